"""The streaming data-loading benchmark; ``benchmark_streaming.py`` beside this folder is its command."""
