from __future__ import annotations

import pytest

from pytest_videodecode.clips.catalogue import CATALOGUE, specs_for
from pytest_videodecode.clips.rules import CODECS, require_usable
from pytest_videodecode.errors import OptionError
from pytest_videodecode.model import ClipSpec


def test_specs_come_in_the_order_of_the_codecs() -> None:
    assert [spec.codec for spec in specs_for(["mpeg4", "av1", "vp9"])] == ["mpeg4", "av1", "vp9"]


def test_default_clip_is_the_plain_spec() -> None:
    assert specs_for(["av1", "h264"]) == [ClipSpec(codec="av1"), ClipSpec(codec="h264")]


@pytest.mark.parametrize("name", ["h265", "AV1", ""])
def test_unknown_codec_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(OptionError, match="known are av1, h264, mpeg4, hevc, vp9"):
        specs_for(["av1", name])


def test_catalogue_has_distinct_usable_clips_of_every_codec() -> None:
    for spec in CATALOGUE.values():
        require_usable(spec)
    assert len(set(CATALOGUE.values())) == len(CATALOGUE)
    assert {spec.codec for spec in CATALOGUE.values()} == set(CODECS)
