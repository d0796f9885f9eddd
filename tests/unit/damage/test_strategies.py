from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.rules import CODECS, CONTAINERS, require_usable
from pytest_videodecode.damage.damage import OPERATORS, Damage, damage_from_json, damaged_bytes
from pytest_videodecode.damage.mapping import byte_map, read_bytes
from pytest_videodecode.damage.operator_strategies import MAX_FLIPS, on_bytes
from pytest_videodecode.damage.operators import FlipBits, FlipBytes, Scatter
from pytest_videodecode.damage.recipe import Recipe, recipe_from_json
from pytest_videodecode.damage.strategies import (
    MAX_ASKED,
    MAX_OPERATORS,
    clip_specs,
    damages,
    decode_requests,
)
from pytest_videodecode.jsonform import to_json
from pytest_videodecode.model import Clip, ClipSpec, DecodeRequest, DecoderInfo

EVERYTHING = DecoderInfo(
    name="all",
    threads_by="parameter threads",
    thread_types=("SLICE", "FRAME"),
    opens_as=("path", "file"),
    log_levels=True,
    stops_early=True,
)


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),  # explaining runs the smallest example a hundred times more
        suppress_health_check=[HealthCheck.too_slow],
    )


def drawn(strategy: st.SearchStrategy[Any], count: int) -> list[Any]:
    values: list[Any] = []

    @examples(count)
    @given(strategy)
    def draw(value: Any) -> None:
        values.append(value)

    draw()
    return values


def smallest(strategy: st.SearchStrategy[Any], condition: Any, count: int = 60) -> Any:
    return find(strategy, condition, settings=examples(count))


def test_drawn_damage_fits_its_clip_and_comes_back_from_json(clip: Clip, clip_cache: ClipCache) -> None:
    data = read_bytes(clip)
    changed = 0
    for damage in drawn(damages(clip), 40):
        assert 1 <= len(damage.operators) <= MAX_OPERATORS
        assert damage_from_json(json.loads(json.dumps(to_json(damage)))) == damage
        changed += damaged_bytes(clip, damage, clip_cache) != data
    assert changed >= 35


def test_every_operator_but_scatter_is_drawn(mp4: Clip) -> None:
    seen = {operator.op for damage in drawn(damages(mp4), 100) for operator in damage.operators}
    assert seen == set(OPERATORS) - {Scatter.name()}


def test_flips_of_one_damage_are_bounded(mp4: Clip) -> None:
    most = 0
    for damage in drawn(damages(mp4), 100):
        flips = [len(each.flips) for each in damage.operators if isinstance(each, FlipBytes)]
        bits = [len(each.bits) for each in damage.operators if isinstance(each, FlipBits)]
        most = max(most, sum(flips) + sum(bits))
    assert 20 < most <= MAX_FLIPS


def test_flips_are_spread_over_their_region(mp4: Clip) -> None:
    mapped = byte_map(mp4)
    quarters: Counter[int] = Counter()
    for operator in drawn(on_bytes(mapped)[0], 150):
        size = mapped.region(operator.region).size
        quarters.update(4 * offset // size for offset, _ in operator.flips)
    assert min(quarters[quarter] for quarter in range(4)) > sum(quarters.values()) / 8


def test_damage_of_the_media_shrinks_to_one_flip(mp4: Clip) -> None:
    data, media = read_bytes(mp4), byte_map(mp4).region("media").ranges

    def touches_media(damage: Damage) -> bool:
        after = damaged_bytes(mp4, damage)
        return len(after) == len(data) and any(after[start:stop] != data[start:stop] for start, stop in media)

    found = smallest(damages(mp4, splice_with=()), touches_media)
    assert found == Damage((FlipBytes(flips=((0, 1),)),))
    assert str(found) == "flip 1 byte in media"


def test_only_the_flips_that_matter_remain(mp4: Clip) -> None:
    size = byte_map(mp4).region("media").size

    def two_in_the_second_half(damage: Damage) -> bool:
        flips = [flip for each in damage.operators if isinstance(each, FlipBytes) for flip in each.flips]
        return sum(offset > size // 2 for offset, _ in flips) >= 2

    found = smallest(damages(mp4), two_in_the_second_half, 200)
    assert [len(each.flips) for each in found.operators] == [2]


def test_a_shorter_file_shrinks_to_one_byte_less(mp4: Clip) -> None:
    size = byte_map(mp4).size
    found = smallest(damages(mp4, splice_with=()), lambda damage: len(damaged_bytes(mp4, damage)) == size - 1)
    assert str(found) == f"keep the first {size - 1} bytes of the file"


def test_a_file_without_video_is_damaged_all_the_same(mp4: Clip, tmp_path: Path) -> None:
    path = tmp_path / "text.mp4"
    path.write_bytes(b"no video at all" * 10)
    clip = replace(mp4, path=str(path), spec=None, times=())
    for damage in drawn(damages(clip), 30):
        assert isinstance(damaged_bytes(clip, damage), bytes)


def test_requests_are_for_frames_that_the_clip_has(mp4: Clip) -> None:
    requests = drawn(decode_requests(mp4), 100)
    times = {float(time) for time in mp4.times}
    for request in requests:
        assert 1 <= request.asked <= MAX_ASKED
        assert set(request.indices or ()) <= set(range(mp4.frames))
        assert set(request.timestamps or ()) <= times
        assert request == DecodeRequest(path=mp4.path, indices=request.indices, timestamps=request.timestamps)
    assert any(request.timestamps for request in requests)
    assert any(list(request.indices or ()) != sorted(request.indices or ()) for request in requests)


def test_requests_ask_only_what_the_decoder_honours(mp4: Clip) -> None:
    requests = drawn(decode_requests(mp4, EVERYTHING), 150)
    assert {request.thread_type for request in requests} == {None, "SLICE", "FRAME"}
    assert {request.open_as for request in requests} == {"path", "file"}
    assert {None, 0, 1} < {request.threads for request in requests}
    assert {request.log_level for request in requests} == {None, "ERROR"}
    assert len({request.stop_after for request in requests}) > 2
    by_time = DecoderInfo(name="by time", asks=("timestamps",))
    assert all(request.timestamps for request in drawn(decode_requests(mp4, by_time), 20))


def test_a_request_shrinks_to_the_first_frame(mp4: Clip) -> None:
    smallest_request = DecodeRequest(path=mp4.path, indices=(0,))
    assert smallest(decode_requests(mp4), lambda request: True) == smallest_request
    assert smallest(decode_requests(mp4, EVERYTHING), lambda request: True) == smallest_request


def test_a_request_shrinks_to_the_setting_that_matters(mp4: Clip) -> None:
    found = smallest(decode_requests(mp4, EVERYTHING), lambda request: request.thread_type == "FRAME")
    assert found == DecodeRequest(path=mp4.path, indices=(0,), thread_type="FRAME")


@pytest.mark.parametrize("frame", [0, 5, 11])
def test_a_request_shrinks_to_the_frame_that_matters(mp4: Clip, frame: int) -> None:
    found = smallest(decode_requests(mp4), lambda request: frame in (request.indices or ()))
    assert found.indices == (frame,)


def test_a_clip_without_frames_can_be_asked(mp4: Clip) -> None:
    for request in drawn(decode_requests(replace(mp4, times=())), 10):
        assert set(request.indices or (0,)) == {0}
        assert set(request.timestamps or (0.0,)) == {0.0}


def test_drawn_specs_can_be_made() -> None:
    specs = drawn(clip_specs(), 200)
    for spec in specs:
        require_usable(spec)
        assert ClipSpec.parse(spec.name) == spec
    assert {spec.codec for spec in specs} == set(CODECS)
    assert {spec.container for spec in specs} == set(CONTAINERS)
    assert any(spec.fragmented for spec in specs)
    assert any(spec.open_gop for spec in specs)


def test_specs_of_some_codecs_only() -> None:
    assert {spec.codec for spec in drawn(clip_specs(codecs=("h264", "mpeg4")), 30)} == {"h264", "mpeg4"}


@pytest.mark.parametrize("codec", CODECS)
def test_a_spec_shrinks_to_the_simplest_of_its_codec(codec: str) -> None:
    found = smallest(clip_specs(), lambda spec: spec.codec == codec)
    assert found == ClipSpec(codec=codec, width=160, height=96, frames=1, gop=1)


def test_a_drawn_recipe_comes_back_from_json(mp4: Clip) -> None:
    for damage, request in drawn(st.tuples(damages(mp4), decode_requests(mp4, EVERYTHING)), 20):
        recipe = Recipe.of(mp4, damage, request, "pyav")
        assert recipe_from_json(json.loads(json.dumps(to_json(recipe)))) == recipe
