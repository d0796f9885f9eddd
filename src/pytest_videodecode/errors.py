"""Every error that this package raises by intent, under one root.

A message is one line: what was wrong, and what to do about it.
"""

from __future__ import annotations


class VideodecodeError(Exception):
    """Root of all errors raised by this package."""


class FormError(VideodecodeError):
    """JSON (a spec, a recipe, a report) that does not have the form it should have."""


class OptionError(VideodecodeError):
    """A command-line option, ini key or marker argument with a value that cannot be used."""


class Unsupported(VideodecodeError):
    """Something cannot be done here: a missing encoder, package or device. Never a failure of a decoder."""


class ClipError(VideodecodeError):
    """A clip cannot be made, or a file given as a clip cannot be used as one."""


class DamageError(VideodecodeError):
    """Damage that cannot be done to a clip: an empty region, an offset outside it, a recipe for another clip."""


class DecoderSpecError(VideodecodeError):
    """A decoder spec that names nothing usable."""


class LoaderSpecError(VideodecodeError):
    """A loader spec that names nothing usable."""


class DecoderContractError(VideodecodeError):
    """A decoder returned something that is not a batch of frames."""


class WorkerError(VideodecodeError):
    """A worker process could not be started or used."""


class MeasurementError(VideodecodeError):
    """A timed run that cannot be made, or whose numbers would mean nothing: a decoder that is fast and wrong."""


class DeadlinePassed(VideodecodeError):
    """The time limit of a test passed while a decode of it ran; the decode was ended, and with it the test."""


class CheckFailed(VideodecodeError, AssertionError):
    """A check did not hold; pytest shows it as a failure, not as an error."""
