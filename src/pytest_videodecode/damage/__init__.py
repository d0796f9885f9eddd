"""Bytes → bytes: where things are in a file, operators that damage them, recipes, Hypothesis strategies."""
