from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.damage.damage import (
    OPERATORS,
    Damage,
    damage_from_json,
    damaged_bytes,
    write_damaged,
)
from pytest_videodecode.damage.mapping import read_bytes
from pytest_videodecode.damage.operators import FlipBytes, Insert, Splice, Truncate, Zero
from pytest_videodecode.damage.packets import DropPacket, SwapPackets
from pytest_videodecode.errors import DamageError, FormError, VideodecodeError
from pytest_videodecode.jsonform import from_json, to_json
from pytest_videodecode.model import Clip

FLIPS = Damage((FlipBytes(flips=((0, 1), (700, 255))),))


def test_every_operator_has_its_name() -> None:
    assert list(OPERATORS) == [
        "flip_bytes",
        "flip_bits",
        "scatter",
        "burst",
        "zero",
        "truncate",
        "insert",
        "drop_packet",
        "duplicate_packet",
        "swap_packets",
        "damage_header",
        "splice",
    ]


def test_operators_are_applied_one_after_another(mp4: Clip) -> None:
    data = read_bytes(mp4)
    both = damaged_bytes(mp4, Damage((Zero(region="any", offset=0, length=8), Truncate(keep_bytes=100))))
    assert both == bytes(8) + data[8:100]


def test_regions_stay_those_of_the_undamaged_clip(mp4: Clip) -> None:
    data = read_bytes(mp4)
    insert, zero = Insert(region="any", offset=0, length=5), Zero(region="any", offset=0, length=10)
    after = damaged_bytes(mp4, Damage((insert, zero)))
    assert after == bytes(10) + data[5:]


def test_bytes_are_damaged_after_packets_are_dropped(mp4: Clip) -> None:
    dropped = damaged_bytes(mp4, Damage((DropPacket(packet=5),)))
    assert damaged_bytes(mp4, Damage((DropPacket(packet=5), Truncate(keep_bytes=500)))) == dropped[:500]


def test_operators_on_packets_come_first() -> None:
    with pytest.raises(ValueError, match="operators on packets need a valid file; put them before those on bytes"):
        Damage((Truncate(keep_bytes=1), DropPacket(packet=0)))


def test_no_operator_leaves_the_clip_as_it_is(mp4: Clip) -> None:
    assert damaged_bytes(mp4, Damage()) == read_bytes(mp4)
    assert str(Damage()) == "no damage"


def test_damage_prints_its_operators() -> None:
    damage = Damage((SwapPackets(packet=1, other=2), Truncate(keep_fraction=0.6)))
    assert str(damage) == "swap packets 1 and 2, keep the first 60% of the file"


def test_splice_takes_the_rest_of_the_named_clip(mp4: Clip, clip_cache: ClipCache) -> None:
    assert mp4.spec is not None
    spec = replace(mp4.spec, texture=1)
    other = read_bytes(clip_cache.clip(spec))
    after = damaged_bytes(mp4, Damage((Splice(other=spec.name, fraction=0.5),)), clip_cache)
    data = read_bytes(mp4)
    assert after == data[: len(data) // 2] + other[len(other) // 2 :]
    assert after not in (data, other)


@pytest.mark.parametrize("other", ["h264:nonsense=1", "h265", "h264:gop"])
def test_splice_with_no_clip_is_refused_in_one_line(mp4: Clip, clip_cache: ClipCache, other: str) -> None:
    with pytest.raises(VideodecodeError) as caught:
        damaged_bytes(mp4, Damage((Splice(other=other),)), clip_cache)
    assert "\n" not in str(caught.value)


def test_damage_that_does_not_fit_names_the_clip(mp4: Clip) -> None:
    with pytest.raises(DamageError, match=r"^clip h264:.*: packet:99: the file has 12 video packets"):
        damaged_bytes(mp4, Damage((Zero(region="packet:99", offset=0, length=1),)))


def test_damaged_file_keeps_its_suffix_and_has_a_name_of_its_own(clip: Clip, tmp_path: Path) -> None:
    path = write_damaged(clip, FLIPS, tmp_path / "new")
    assert path.suffix == Path(clip.path).suffix
    assert path.read_bytes() == damaged_bytes(clip, FLIPS)
    assert write_damaged(clip, FLIPS, tmp_path / "new") == path
    assert write_damaged(clip, Damage(), tmp_path / "new") != path
    assert sorted(each.name for each in (tmp_path / "new").iterdir()) == sorted(
        [path.name, write_damaged(clip, Damage(), tmp_path / "new").name]
    )


def test_a_folder_that_cannot_be_written_to_is_named(mp4: Clip, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DamageError, match=r"cannot be written \(.*\); give a folder to write in$"):
        write_damaged(mp4, FLIPS, tmp_path / "file")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "damage: expected dict, got list"),
        ({"operators": 3}, "damage.operators: expected list, got int"),
        ({"operators": [{"op": "melt"}]}, "damage.operators[0]: unknown op 'melt'; known are flip_bytes, flip_bits"),
        ({"operators": [{"region": "media"}]}, "damage.operators[0]: unknown op None; known are flip_bytes"),
        ({"operators": [{"op": ["zero"]}]}, "damage.operators[0]: unknown op ['zero']; known are"),
        ({"operators": ["zero"]}, "damage.operators[0]: unknown op None"),
        (
            {"operators": [{"op": "zero", "offset": 0, "length": 1}, {"op": "zero", "offset": 0}]},
            "damage.operators[1]: field 'length' is missing",
        ),
        ({"operators": [{"op": "zero", "offset": "0", "length": 1}]}, "damage.operators[0].offset: expected int"),
        ({"operators": [{"op": "zero", "offset": 0, "length": 0}]}, "damage.operators[0]: length is outside 1 to"),
        ({"operators": [{"op": "zero", "offset": 0, "length": 1, "x": 1}]}, "damage.operators[0]: unknown field 'x'"),
        ({"operators": [{"op": "flip_bytes", "flips": [[1]]}]}, "damage.operators[0]: flips are pairs of offset and"),
        (
            {"operators": [{"op": "truncate", "keep_bytes": 1}, {"op": "drop_packet", "packet": 1}]},
            "damage: operators on packets need a valid file; put them before those on bytes",
        ),
    ],
)
def test_json_that_is_no_damage_is_refused_with_the_place(data: Any, message: str) -> None:
    with pytest.raises(FormError) as caught:
        damage_from_json(data)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_damage_is_the_same_after_json() -> None:
    damage = Damage((DropPacket(packet=3), *FLIPS.operators, Truncate(keep_fraction=0.6)))
    text = json.dumps(to_json(damage))
    assert damage_from_json(json.loads(text)) == damage
    assert from_json(Damage, json.loads(text)) == damage
    assert json.loads(text)["operators"][1] == {
        "op": "flip_bytes",
        "region": "media",
        "flips": [[0, 1], [700, 255]],
    }
