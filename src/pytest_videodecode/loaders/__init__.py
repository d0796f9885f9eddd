"""Streaming loaders as systems under test: named by a spec, built, and run in a process of their own."""
