"""Spec → file: synthesis, frame marks, reference truth of real files, the cache."""
