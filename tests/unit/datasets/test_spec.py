from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_videodecode import jsonform
from pytest_videodecode.datasets.spec import DatasetSpec, require_usable
from pytest_videodecode.errors import ClipError

SPEC = DatasetSpec(lengths=(3, 4, 5, 6, 7))


@pytest.mark.parametrize("count", range(1, 6))
def test_every_episode_is_in_one_data_file_and_one_mp4_of_a_camera(count: int) -> None:
    spec = replace(SPEC, data_files=count, episodes_per_file=count)
    for groups in (spec.data_groups, spec.video_groups):
        assert [episode for group in groups for episode in group] == [0, 1, 2, 3, 4]
    assert len(spec.data_groups) == count
    assert max(map(len, spec.video_groups)) == count


def test_files_go_to_the_next_chunk_when_one_is_full() -> None:
    paths = [path for path, _ in replace(SPEC, cameras=("top",), episodes_per_file=1, chunks_size=2).videos()]
    assert [path.removeprefix("videos/observation.images.top/") for path in paths] == [
        "chunk-000/file-000.mp4",
        "chunk-000/file-001.mp4",
        "chunk-001/file-000.mp4",
        "chunk-001/file-001.mp4",
        "chunk-002/file-000.mp4",
    ]


def test_starts_add_up_the_lengths() -> None:
    assert SPEC.starts == (0, 3, 7, 12, 18, 25)


def test_recipe_comes_back_from_json() -> None:
    assert jsonform.from_json(DatasetSpec, jsonform.to_json(SPEC)) == SPEC


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"cameras": ()}, "0 cameras are not possible; give 1 to 16"),
        ({"cameras": ("a", "a")}, "give 1 to 16 different names"),
        ({"cameras": ("a/../b",)}, "a camera cannot be called 'a/../b'; use letters, digits and _"),
        ({"lengths": ()}, "0 episodes are not possible"),
        ({"lengths": (3, 0)}, "an episode of 0 frames is not possible; give 1 to 16384"),
        ({"episodes_per_file": 0}, "0 episodes in a video file are not possible"),
        ({"data_files": 6}, "6 data files are not possible; give 1 to the number of episodes, 5"),
        ({"chunks_size": 0}, "0 files in a chunk"),
        ({"seed": -1}, "a seed of -1"),
        ({"codec": "gif"}, "unknown codec 'gif'; known are av1"),
        ({"width": 62}, "a size of 62x256 is not possible; give even sides of 64 to 4096 pixels"),
        ({"height": 65}, "a size of 256x65"),
        ({"gop": 0}, "a GOP of 0 frames"),
        ({"quality": 64}, "a quality of 64 is not possible; av1 takes 0 (best) to 63"),
        ({"fps": 0}, "0 frames a second are not possible; give 1 to 240"),
        ({"width": 4096, "height": 4096, "lengths": (16000,) * 5}, "pixels in all"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(ClipError) as raised:
        require_usable(replace(SPEC, **changed))
    assert str(raised.value).startswith("data set: ")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
