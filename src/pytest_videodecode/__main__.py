"""``python -m pytest_videodecode`` is ``videodecode``."""

import sys

from pytest_videodecode.cli import main

sys.exit(main())
