"""The deadlock as this plugin finds it: one failed test that says where it hung, and the run goes on."""

from pytest_videodecode.damage.damage import Damage, write_damaged
from pytest_videodecode.damage.operators import Scatter


def test_damaged_file_never_hangs(videodecode, tmp_path):
    clip = videodecode.clip("h264", width=1280, height=720, frames=48)
    damaged = write_damaged(clip, Damage((Scatter(count=200, seed=0, region="after_first"),)), tmp_path)
    outcome = videodecode.decode(damaged, [0, 8, 16], decoder="frame_thread_reader:read_frames")
    assert outcome.kind != "hang", f"{outcome}\n{outcome.hang.stacks}"


def test_other_tests_still_run(videodecode):
    clip = videodecode.clip("mpeg4")
    assert videodecode.decode(clip, [5], decoder="production").kind == "frames"
