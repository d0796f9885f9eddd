from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from pytest_videodecode.clips.store import Store
from pytest_videodecode.datasets import video
from pytest_videodecode.datasets.make import make_dataset, write_dataset
from pytest_videodecode.datasets.marks import Mark
from pytest_videodecode.datasets.spec import DatasetSpec
from pytest_videodecode.datasets.truth import DatasetTruth
from pytest_videodecode.errors import ClipError, Unsupported

ONE = DatasetSpec(cameras=("top",), lengths=(4,), width=64, height=64, codec="mpeg4", textured=False)


def frames(path: Path) -> NDArray[np.uint8]:
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def test_every_frame_of_every_mp4_says_what_it_is(truth: DatasetTruth) -> None:
    for path, each in truth.spec.videos():
        wanted = [
            Mark(episode, each.camera, frame)
            for episode, length in zip(each.episodes, each.lengths, strict=True)
            for frame in range(length)
        ]
        assert truth.read(frames(Path(truth.folder, path))) == wanted


@pytest.mark.parametrize("codec", ["av1", "h264", "hevc", "mpeg4", "vp9"])
def test_every_codec_keeps_its_marks_and_its_gop_in_the_smallest_picture(codec: str, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    try:
        truth = make_dataset(
            folder, cameras=["top"], codec=codec, episodes=1, frames_per_episode=9, gop=4, size=(64, 64)
        )
    except Unsupported as reason:
        pytest.skip(str(reason))
    path = next(folder.glob("videos/*/*/*.mp4"))
    assert truth.read(frames(path)) == [Mark(0, 0, frame) for frame in range(9)]
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert stream.average_rate == 20
        packets = [packet for packet in container.demux(stream) if packet.size]
        assert [packet.is_keyframe for packet in packets] == [number % 4 == 0 for number in range(9)]
        assert [float(packet.pts * packet.time_base) for packet in packets if packet.pts is not None] == pytest.approx(
            [number / 20 for number in range(9)]
        )


def test_same_recipe_makes_the_same_bytes_and_another_seed_makes_others(tmp_path: Path) -> None:
    made = [
        make_dataset(
            tmp_path / name, cameras=["a"], episodes=1, frames_per_episode=4, size=(96, 64), seed=seed, reuse=False
        )
        for name, seed in (("one", 1), ("again", 1), ("other", 2))
    ]
    one, again, other = (next(Path(each.folder).glob("videos/*/*/*.mp4")).read_bytes() for each in made)
    assert one == again
    assert one != other


def test_kept_video_is_not_encoded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    write_dataset(ONE, tmp_path / "one", store)
    monkeypatch.setattr(video, "encode", lambda *_: pytest.fail("encoded again"))
    write_dataset(ONE, tmp_path / "two", store)
    one, two = (next((tmp_path / name).glob("videos/*/*/*.mp4")) for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    one.write_bytes(b"damaged by a test")
    write_dataset(ONE, tmp_path / "three", store)
    assert next((tmp_path / "three").glob("videos/*/*/*.mp4")).read_bytes() == two.read_bytes()


def test_empty_folder_is_filled_and_a_full_one_is_left_alone(tmp_path: Path) -> None:
    write_dataset(ONE, tmp_path / "new", meta_only=True)
    (tmp_path / "empty").mkdir()
    write_dataset(ONE, tmp_path / "empty", meta_only=True)
    assert (tmp_path / "empty" / "meta" / "info.json").is_file()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ClipError, match="is there already, and not an empty folder"):
        write_dataset(ONE, tmp_path / "new", meta_only=True)
    (tmp_path / "file").touch()
    with pytest.raises(ClipError, match="is there already"):
        write_dataset(ONE, tmp_path / "file", meta_only=True)
    assert sorted(tmp_path.rglob("*")) == sorted([*before, tmp_path / "file"])


def test_data_set_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ClipError("the encoder is gone")

    monkeypatch.setattr(video, "encode", fail)
    with pytest.raises(ClipError, match="the encoder is gone"):
        write_dataset(ONE, tmp_path / "made")
    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ClipError, match=r"file/made: cannot be written \(File exists\); give another folder"):
        write_dataset(ONE, tmp_path / "file" / "made", meta_only=True)


def test_lengths_must_be_as_many_as_episodes(tmp_path: Path) -> None:
    with pytest.raises(ClipError, match="2 lengths for 3 episodes"):
        make_dataset(tmp_path / "made", episodes=3, frames_per_episode=(4, 5))


def test_encoder_that_dies_is_reported_with_its_last_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(video, "_PROGRAM", "import sys; print('first'); sys.exit('the last word')")
    with pytest.raises(ClipError, match=r"file-000.mp4: its encoder ended with status 1 \(the last word\)"):
        write_dataset(ONE, tmp_path / "made")


def test_encoders_run_in_processes_of_their_own(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from pytest_videodecode.datasets.make import write_dataset\n"
        "from pytest_videodecode.datasets.spec import DatasetSpec\n"
        "spec = DatasetSpec(cameras=('top',), lengths=(2,), width=64, height=64, codec='mpeg4')\n"
        "write_dataset(spec, Path('made'))\n"
        "print('av' in sys.modules)\n"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "False\n"
