"""Timed runs: samples and seats, throughput, comparison, baseline and gate."""
