"""Checks of streaming loaders: one file per check; each is handed ``load`` and the truth about a data set."""
