"""Arguments go to the parameters that a loader's class has for them."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_videodecode.errors import LoaderSpecError
from pytest_videodecode.loaders.build import build, find


def test_what_the_class_does_not_take_is_left_out_and_told() -> None:
    built = build("loader_shapes:Plain", {"root": "data", "seed": 3, "revision": None})

    assert built.loader.given == {"root": "data", "buffer_size": 1000}
    assert built.left_out == ("seed",)
    assert built.takes == ("root", "buffer_size")


def test_other_names_for_the_same_thing_are_known() -> None:
    built = build("loader_shapes:LeRobotLike", {"root": "data", "decoder_cache_size": 8})

    assert built.loader.given == {"repo_id": "local/dataset", "root": "data", "video_decoder_cache_size": 8}


def test_class_that_takes_anything_is_given_all() -> None:
    assert build("loader_shapes:TakesAll", {"root": "data", "seed": 3}).loader.given == {"root": "data", "seed": 3}


def test_what_must_be_taken_and_is_not_is_an_error() -> None:
    with pytest.raises(LoaderSpecError, match=r"has no parameter 'video_decode_device'; it takes root, buffer_size"):
        build("loader_shapes:Plain", {"root": "data", "video_decode_device": "cuda"}, must=("video_decode_device",))


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("0.5", 0.5), ("true", True), ("none", None), ("skip", "skip")],
)
def test_option_of_a_spec_is_read_by_its_text(text: str, value: Any) -> None:
    built = build("loader_shapes:Plain", {"root": "data"}, options={"buffer_size": text})

    assert built.loader.given["buffer_size"] == value
    assert type(built.loader.given["buffer_size"]) is type(value)


def test_option_that_the_class_does_not_take_is_an_error() -> None:
    with pytest.raises(LoaderSpecError, match="has no option 'colour'; it takes root, buffer_size"):
        build("loader_shapes:Plain", {"root": "data"}, options={"colour": "red"})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module:Loader", "cannot import no_such_module: ModuleNotFoundError: No module named"),
        ("json:NoSuchClass", "module json has no class 'NoSuchClass'"),
        ("json:__doc__", "module json has no class '__doc__'"),
    ],
)
def test_name_that_is_no_class_is_an_error(name: str, said: str) -> None:
    with pytest.raises(LoaderSpecError, match=said):
        find(name)
