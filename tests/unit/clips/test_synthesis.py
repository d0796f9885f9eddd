from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import av
import pytest

from pytest_videodecode.clips import ffmpeg_cli, probe, synthesis
from pytest_videodecode.errors import Unsupported
from pytest_videodecode.model import ClipSpec

SMALL = ClipSpec(width=160, height=96, frames=17)
H264 = replace(SMALL, codec="h264", bframes=2)


@pytest.fixture(autouse=True)
def _quiet_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVT_LOG", "1")  # as clips.job sets it for the process that encodes


def hide(monkeypatch: pytest.MonkeyPatch, *encoders: str) -> None:
    monkeypatch.setattr(av, "codecs_available", set(av.codecs_available) - set(encoders))


@pytest.mark.parametrize(
    "spec",
    [replace(SMALL, codec="mpeg4"), replace(SMALL, codec="mpeg4", container="mkv"), H264],
    ids=lambda spec: spec.name,
)
def test_same_spec_makes_the_same_bytes(spec: ClipSpec, tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        synthesis.write(spec, tmp_path / name)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("spec", "hidden"),
    [
        (SMALL, ["libsvtav1", "libaom-av1"]),
        (replace(H264, variable_rate=True), ["libx264"]),
        (replace(H264, container="avi"), ["libx264"]),
        (replace(SMALL, codec="mpeg4", bframes=2, container="ts", audio=True), ["mpeg4"]),
        (replace(SMALL, codec="hevc", container="mkv"), ["libx265"]),
        (replace(SMALL, codec="vp9", container="webm"), ["libvpx-vp9"]),
    ],
    ids=lambda value: value.name if isinstance(value, ClipSpec) else "",
)
def test_encoder_that_pyav_lacks_is_made_up_for_by_the_command_line(
    spec: ClipSpec, hidden: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, *hidden)
    assert synthesis.pyav_encoder(spec) is None
    path = tmp_path / "clip"
    synthesis.write(spec, path)
    truth = probe.probe(spec, path)
    assert truth.keyframes == (0, 8, 16)
    assert len(truth.times) == 17


def test_second_encoder_of_a_codec_is_used_where_the_first_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "libsvtav1", "libaom-av1")
    real = ffmpeg_cli.encode
    tried = []

    def without_svt(path: Path, *args: object, encoder: str, **more: object) -> None:
        tried.append(encoder)
        if encoder == "libsvtav1":
            raise ffmpeg_cli.FfmpegFailed("Unknown encoder 'libsvtav1'")
        real(path, *args, encoder=encoder, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ffmpeg_cli, "encode", without_svt)
    synthesis.write(SMALL, tmp_path / "clip.mp4")
    assert tried == ["libsvtav1", "libaom-av1"]
    assert probe.probe(SMALL, tmp_path / "clip.mp4").keyframes == (0, 8, 16)


def test_encoder_missing_everywhere_is_unsupported_and_says_what_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, "libsvtav1", "libaom-av1")

    def nothing() -> str:
        raise Unsupported("no FFmpeg command line here")

    monkeypatch.setattr(ffmpeg_cli, "find", nothing)
    with pytest.raises(Unsupported, match=r"no encoder for av1 .*looked for libsvtav1, libaom-av1 in PyAV") as caught:
        synthesis.write(SMALL, tmp_path / "clip.mp4")
    assert "no FFmpeg command line here" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_audio_encoder_is_unsupported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "aac")
    with pytest.raises(Unsupported, match="no audio encoder aac in PyAV"):
        synthesis.write(replace(H264, audio=True), tmp_path / "clip.mp4")


def test_moov_goes_where_the_spec_says(tmp_path: Path) -> None:
    boxes = {}
    for name, spec in {
        "front": H264,
        "back": replace(H264, faststart=False),
        "fragments": replace(H264, fragmented=True),
    }.items():
        path = tmp_path / f"{name}.mp4"
        synthesis.write(spec, path)
        boxes[name] = [path.read_bytes().find(kind) for kind in (b"moov", b"mdat", b"moof")]
    assert boxes["front"][0] < boxes["front"][1]
    assert boxes["back"][0] > boxes["back"][1]
    assert boxes["fragments"][2] > 0
    assert boxes["front"][2] == boxes["back"][2] == -1


@pytest.mark.parametrize("container", ["mp4", "mkv", "ts", "avi"])
def test_audio_track_is_as_long_as_the_video(container: str, tmp_path: Path) -> None:
    path = tmp_path / "clip"
    synthesis.write(replace(H264, container=container, audio=True, bframes=0, frames=30), path)
    with av.open(str(path)) as opened:
        assert len(opened.streams.audio) == 1
        samples = sum(frame.samples for frame in opened.decode(audio=0))
    assert 0.95 <= samples / 48000 <= 1.15
