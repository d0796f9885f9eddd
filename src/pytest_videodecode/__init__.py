"""Test the function that your training job decodes video with."""

__version__ = "0.1.0"
