from __future__ import annotations

from pathlib import Path

import pytest
from fake_decodes import CRASH, INFO, REFUSED, FakeDecode

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import Damage
from pytest_videodecode.damage.operators import FlipBytes, Truncate
from pytest_videodecode.errors import DamageError, Unsupported
from pytest_videodecode.fuzz.trials import Limit, Trials
from pytest_videodecode.model import Clip, DecodeRequest, ErrorInfo, Hang, Outcome, OutcomeKind

REQUEST = DecodeRequest(path="", indices=(0,))
FLIP = Damage((FlipBytes(flips=((5000, 255),)),))


@pytest.mark.parametrize(
    ("clean_s", "first_s", "short_s"), [(0.01, 2.0, 0.5), (0.4, 8.0, 2.0), (3.0, 20.0, 15.0), (9.0, 20.0, 20.0)]
)
def test_limit_follows_the_clean_decode_and_shortens_once_one_has_hung(
    clean_s: float, first_s: float, short_s: float
) -> None:
    limit = Limit(20.0, clean_s)
    assert limit.seconds == pytest.approx(first_s)
    limit.hung = True
    assert limit.seconds == pytest.approx(short_s)


def test_damaged_copy_is_decoded_and_judged(tmp_path: Path, clip: Clip, clip_cache: ClipCache) -> None:
    decode = FakeDecode(clip, lambda data: CRASH if data[1:] else REFUSED)
    trial = decode.trials(clip, tmp_path, clip_cache).make(FLIP, DecodeRequest(path=clip.path, indices=(0,)))
    assert (trial.recipe.clip, trial.recipe.damage, trial.recipe.request) == ("mpeg4.avi", FLIP, REQUEST)
    assert (trial.recipe.decoder, str(trial.outcome_class)) == ("fake", "crash")
    assert trial.fault == "asked frame 0, got crash (SIGSEGV) (pattern 'recipe', by index)"


def test_limit_is_calibrated_and_a_hang_shortens_it(tmp_path: Path, clip: Clip, clip_cache: ClipCache) -> None:
    decode = FakeDecode(clip, lambda data: "hang", clean_s=0.3)
    trials = decode.trials(clip, tmp_path, clip_cache)
    for limit_s in (None, None, 6.0):
        assert trials.make(FLIP, REQUEST, limit_s).outcome.kind is OutcomeKind.HANG
    assert decode.limits == pytest.approx([6.0, 1.5, 6.0])


def test_clip_that_hangs_undamaged_gets_the_least_limits(tmp_path: Path, clip: Clip, clip_cache: ClipCache) -> None:
    hang = Outcome(kind=OutcomeKind.HANG, hang=Hang(limit_s=20))
    limit = Trials(clip, INFO, lambda request, limit_s: hang, tmp_path, clip_cache, most_s=20).limit
    assert (limit.first_s, limit.short_s) == (2.0, 0.5)


def test_damage_that_does_not_fit_and_what_cannot_be_asked_are_raised(
    tmp_path: Path, clip: Clip, clip_cache: ClipCache
) -> None:
    bases = ("pytest_videodecode.errors.Unsupported",)
    error = ErrorInfo(type="Unsupported", message="fake has no thread count", bases=bases)
    decode = FakeDecode(clip, lambda data: Outcome(kind=OutcomeKind.ERROR, error=error))
    trials = decode.trials(clip, tmp_path, clip_cache)
    with pytest.raises(Unsupported, match="fake has no thread count"):
        trials.make(FLIP, REQUEST)
    with pytest.raises(DamageError, match="cannot keep 999999 bytes"):
        trials.make(Damage((Truncate(keep_bytes=999_999),)), REQUEST)
