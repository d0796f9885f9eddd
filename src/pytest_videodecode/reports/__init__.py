"""Verdicts as text and JSON."""
