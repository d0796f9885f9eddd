"""Run as a file by the interpreter of a decoder: makes this one package importable there, then serves.

Another interpreter must not see the site-packages that this package was installed into, so the package is
registered from its own folder. Its ``production`` room is taken from that interpreter's own installation where
there is one: ``production@../base/bin/python`` means the reader of that branch, not ours.
"""

from __future__ import annotations

import importlib.util
import os
import sys


def main() -> None:
    """Find the package, check what is needed, hand over to the worker."""
    if sys.version_info < (3, 11):  # noqa: UP036  any interpreter may be named in a decoder spec
        sys.exit(f"Python {sys.version.split()[0]} is too old for a worker; it needs 3.11 or later")
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[0] = os.getcwd()  # it was the folder of this file, whose module names are nobody's business
    native = importlib.util.find_spec("pytest_videodecode")
    # without an origin it is a mere folder of that name, and no installation
    folder = os.path.dirname(os.path.abspath(native.origin)) if native and native.origin else None
    if folder is None or not os.path.samefile(folder, here):
        _register("pytest_videodecode", here)
        _register("pytest_videodecode.production", os.path.join(folder or here, "production"))
    try:
        from pytest_videodecode.isolation import worker
    except ImportError as error:
        sys.exit(f"{error}; a worker needs numpy in its interpreter ({sys.executable})")
    worker.main([int(fd) for fd in sys.argv[1:]])


def _register(name: str, folder: str) -> None:
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        sys.exit(f"no package {name} in {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


main()
