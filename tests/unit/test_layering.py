"""Who may import whom, as ARCHITECTURE.md says; read from the source, not from what happens to be loaded."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_videodecode

PACKAGE = Path(pytest_videodecode.__file__).parent
NAME = "pytest_videodecode"

#: A room may import those before it; the doors at the end may import all of them.
ORDER = (
    "errors",
    "jsonform",
    "model",
    "measurement",
    "loading",
    "options",
    "clips",
    "damage",
    "datasets",
    "decoders",
    "isolation",
    "checks",
    "loaders",
    "measure",
    "reports",
    "failures",
    "selection",
    "session",
)
DOORS = frozenset(
    {
        "run",
        "throughput_run",
        "measuring",
        "plugin",
        "fixtures",
        "suite",
        "cli",
        "__main__",
        "environment",
        "doctor",
        "fuzz",
        "commands",
    }
)
FORBIDDEN = {
    "checks": {"decoders", "isolation", "options"},
    "reports": {"options", "clips", "damage", "datasets", "decoders", "isolation", "checks", "loaders", "measure"},
    "clips": {"options"},
    "decoders": {"options"},
    "isolation": {"options"},
    "datasets": {"options"},
}
#: ``options`` stands on the ground floor but nobody below the session needs to know what the user typed.


def imports(path: Path) -> set[str]:
    """The rooms of this package that a file imports, wherever in the file."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" if node.module == NAME else node.module for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith(f"{NAME}.")}
    return rooms


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.name != "__init__.py")


def test_every_room_has_its_place() -> None:
    assert {room_of(path) for path in FILES} == {*ORDER, *DOORS, "production"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    room = room_of(path)
    used = imports(path) - {room, "__version__"}
    if room == "production":
        assert used == set(), "the tenant imports nothing of the harness"
    elif room in DOORS:
        assert "production" not in used, "production is reached by its decoder spec only"
    else:
        assert used <= set(ORDER[: ORDER.index(room)])
        assert not used & FORBIDDEN.get(room, set())


def test_plugin_that_is_not_used_imports_nothing_heavy() -> None:
    heavy = "{'av', 'numpy', 'torch', 'hypothesis', 'psutil', 'imageio_ffmpeg', 'filelock', 'platformdirs'}"
    script = f"import sys, pytest_videodecode.plugin; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_worker_needs_only_numpy() -> None:
    script = (
        "import sys, pytest_videodecode.isolation.worker; print(set(sys.modules) & "
        "{'av', 'psutil', 'hypothesis', 'pytest', 'filelock', 'platformdirs', 'imageio_ffmpeg'})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
