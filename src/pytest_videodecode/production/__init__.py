"""The systems under test that ship: a video reader. Imports nothing of the harness around it."""
