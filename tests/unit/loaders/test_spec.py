"""Loaders are named as decoders are."""

from __future__ import annotations

import pytest

from pytest_videodecode.errors import LoaderSpecError
from pytest_videodecode.loaders.spec import parse


def test_registered_name_stands_for_its_class() -> None:
    spec = parse("production,buffer_size=10")

    assert spec.target == "pytest_videodecode.production.streaming:StreamingDataset"
    assert spec.options == {"buffer_size": "10"}


def test_class_and_interpreter() -> None:
    spec = parse("mylab.data:Loader@../env/bin/python")

    assert (spec.target, spec.python) == ("mylab.data:Loader", "../env/bin/python")


@pytest.mark.parametrize("text", ["", "prodcution", "a b:c", "module:Class,x", "mylab.data"])
def test_other_text_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(LoaderSpecError, match=r"NAME one of production, lerobot or module:Class$"):
        parse(text)
