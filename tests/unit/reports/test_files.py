from __future__ import annotations

from pathlib import Path

import pytest

from pytest_videodecode.errors import OptionError
from pytest_videodecode.reports.files import write_whole


def test_file_is_whole_and_stands_alone_in_a_new_folder(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a" / "b.json", "é\udcff")
    assert path.read_text(encoding="utf-8") == "é\\udcff"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", ["folder", "file/inside.json", "x" * 300, "nul\0byte"])
def test_where_it_cannot_be_written_one_line_says_so_and_nothing_is_lost(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    with pytest.raises(OptionError, match="cannot write the report ") as caught:
        write_whole(tmp_path / name, "new")
    assert len(str(caught.value).splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
    assert (tmp_path / "file").read_text(encoding="utf-8") == "kept"
