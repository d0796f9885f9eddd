from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from pytest_videodecode.clips import reference
from pytest_videodecode.clips.cache import ClipCache
from pytest_videodecode.clips.catalogue import CATALOGUE
from pytest_videodecode.errors import ClipError
from pytest_videodecode.model import Clip

#: file → frames, intact, how many frames a strict decode with one thread gives; from the manifest and from FFmpeg.
SMALL_REAL = {
    "av1-conformance-resize-midstream.ivf": (20, True, 20),
    "av1-conformance-10bit-quantizer.ivf": (2, True, 2),
    "av1-fuzz-corrupt-midway.ivf": (4, False, 1),
    "h264-bframes-negative-step.avi": (58, True, 58),
    "h264-conformance-qcif.264": (100, True, 100),
    "h264-edit-list-bframes.mp4": (12, True, 12),
    "h264-header-524-no-samples.mp4": (0, False, 0),
    "h264-invalid-nal-near-end.mp4": (29, False, 26),
    "vp9-odd-size.webm": (30, True, 30),
}


def strictly_decoded(clip: Clip) -> list[int | None]:
    """What ``clip.read`` makes of each frame of a decode that stops at the first error."""
    read: list[int | None] = []
    try:
        with av.open(clip.path) as container:
            stream = container.streams.video[0]
            stream.thread_type, stream.codec_context.thread_count = "NONE", 1
            for frame in container.decode(stream):
                read += clip.read(frame.to_ndarray(format="rgb24")[None], [len(read)])
    except av.FFmpegError:
        assert not clip.intact
    return read


@pytest.mark.parametrize("name", SMALL_REAL)
def test_frames_of_real_files_are_recognised(name: str, real_clips: Path, clip_cache: ClipCache) -> None:
    frames, intact, decodable = SMALL_REAL[name]
    clip = clip_cache.real(real_clips / name)
    assert (clip.frames, clip.intact) == (frames, intact)
    assert strictly_decoded(clip) == list(range(decodable))
    assert list(clip.times) == sorted(clip.times)
    assert set(clip.keyframes) <= set(range(frames))


@pytest.mark.parametrize(
    "name", ["h264-bframes-ts", "h264-bframes-avi", "mpeg4-bframes-avi", "vp9-odd-size", "av1-start", "hevc-open-gop"]
)
def test_reference_and_marks_tell_the_same_truth(name: str, clip_cache: ClipCache) -> None:
    made = clip_cache.clip(CATALOGUE[name])
    seen = clip_cache.real(Path(made.path))
    assert (seen.times, seen.keyframes, seen.intact) == (made.times, made.keyframes, True)
    assert (seen.codec, seen.container, seen.width, seen.height) == (
        made.codec,
        made.container,
        made.width,
        made.height,
    )


def test_damage_in_the_middle_makes_a_clip_not_intact(tmp_path: Path, clip_cache: ClipCache) -> None:
    made = clip_cache.clip(CATALOGUE["h264"])
    path = tmp_path / "damaged.mp4"
    data = bytearray(Path(made.path).read_bytes())
    middle = len(data) // 2
    data[middle : middle + 2000] = bytes(2000)
    path.write_bytes(data)
    truth = reference.look(path)
    assert not truth.intact
    assert "error" in truth.fault
    assert "\n" not in truth.fault


def test_tag_in_another_encoding_is_no_obstacle(tmp_path: Path, clip_cache: ClipCache) -> None:
    path = tmp_path / "tagged.mkv"
    with av.open(clip_cache.clip(CATALOGUE["av1-mkv"]).path) as whole, av.open(str(path), "w") as tagged:
        tagged.metadata["title"] = "name"
        stream = tagged.add_stream_from_template(whole.streams.video[0], opaque=True)
        for packet in whole.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                tagged.mux(packet)
    assert path.read_bytes().count(b"name") == 1
    path.write_bytes(path.read_bytes().replace(b"name", b"\xff\xfe\xe9\xe8"))
    assert len(reference.look(path).times) == 48


def test_file_with_too_many_frames_is_refused(clip_cache: ClipCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "MAX_FRAMES", 47)
    with pytest.raises(ClipError, match="more than 47 frames; cut the file into shorter ones"):
        reference.look(Path(clip_cache.clip(CATALOGUE["h264"]).path))


def test_digest_knows_pixels_and_shape() -> None:
    picture = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    altered = picture.copy()
    altered[1, 3, 2] += 1
    others = [altered, picture.reshape(4, 2, 3), picture[:, ::-1]]
    assert reference.digest(picture) == reference.digest(np.asfortranarray(picture))
    assert len({reference.digest(one) for one in [picture, *others]}) == 4


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (16, 16), (97, 161), (1080, 1920)])
def test_signature_of_a_flat_picture_is_flat_at_any_size(shape: tuple[int, int]) -> None:
    picture = np.full((1, *shape, 3), 77, np.uint8)
    assert set(reference.signature(picture)[0].tolist()) == {77}


def test_signature_has_one_grey_level_for_each_cell() -> None:
    cells = np.arange(256, dtype=np.uint8).reshape(16, 16)
    picture = np.repeat(cells.repeat(6, axis=0).repeat(10, axis=1)[None, :, :, None], 3, axis=3)
    assert reference.signature(picture).tolist() == [list(range(256))]
