"""Failures are kept, replayed, and collected in a corpus of recipes that every run replays."""
