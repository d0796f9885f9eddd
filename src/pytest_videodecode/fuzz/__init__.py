"""Property tests of damaged decodes: limits that adapt, failures that shrink, and the search from the shell."""
