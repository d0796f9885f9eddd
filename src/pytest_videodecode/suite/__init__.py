"""The ready-made suite: ``pytest -p videodecode --pyargs pytest_videodecode.suite``."""
