"""Systems under test: the spec grammar, the registry, and one file per decoder."""
