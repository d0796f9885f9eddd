"""What the settings name, looked up: decoders, clips, checks, recipes, and the cases that follow from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_videodecode.checks import catalogue
from pytest_videodecode.checks.expected import Expected, load_expected
from pytest_videodecode.checks.loaders.catalogue import LOADER_CHECKS
from pytest_videodecode.clips import rules
from pytest_videodecode.clips.catalogue import CATALOGUE, specs_for
from pytest_videodecode.decoders import registry
from pytest_videodecode.decoders.spec import DecoderSpec, parse
from pytest_videodecode.errors import OptionError, VideodecodeError
from pytest_videodecode.failures import corpus
from pytest_videodecode.loaders import spec as loaders
from pytest_videodecode.measure.metrics import check_limits
from pytest_videodecode.model import ClipSpec, Verdict
from pytest_videodecode.options import Settings

_ENDINGS = (
    ".264 .265 .3gp .avi .flv .h264 .hevc .ivf .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .obu .ogv .ts .vob .webm "
    ".wmv .y4m"
)

#: Endings of files that are taken from a folder of clips; a file that is named itself may have any.
VIDEO_ENDINGS = frozenset(_ENDINGS.split())

#: The checks in running order, then the replay of the corpus, the checks of loaders, and the verdict on a worker
#: that does not end.
CORPUS = "corpus"
WORKER_EXIT = "worker_exit"
CHECK_NAMES = (*catalogue.CHECKS, CORPUS, *LOADER_CHECKS, WORKER_EXIT)

#: A clip before it is made or looked at: naming it costs nothing, so tests can be collected.
ClipSource = ClipSpec | Path


@dataclass(frozen=True, slots=True)
class Case:
    """One check of one decoder on one clip, still to be made."""

    decoder: str
    source: ClipSource
    check: str

    def __str__(self) -> str:
        return f"{self.decoder}-{self.source.name}-{self.check}"


@dataclass(frozen=True, slots=True)
class CorpusCase:
    """One recipe of the corpus, for one decoder."""

    decoder: str
    recipe: Path

    def __str__(self) -> str:
        return f"{self.decoder}-{self.recipe.stem}"


@dataclass(frozen=True, slots=True)
class LoaderCase:
    """One check of one streaming loader, on the data set that is made for it."""

    loader: str
    check: str

    @property
    def name(self) -> str:
        """The loader's name in verdicts: a decoder may have the same spec."""
        return f"loader {self.loader}"

    def __str__(self) -> str:
        return f"{self.name}-{self.check}"


def sources(settings: Settings) -> list[ClipSource]:
    """The clips that the settings name: generated ones, then real files.

    Raises:
        OptionError: for an unknown codec, a folder without video files, or no clip at all.
    """
    found: list[ClipSource] = [*_generated(settings.codecs), *_real(settings.clips)]
    if not found:
        raise OptionError("no clip is named; give codecs to generate some in, or clips (folders of videos, or files)")
    return found


def cases(settings: Settings) -> list[Case]:
    """Every decoder × clip × check of the settings, so ordered that a clip is used while it is fresh."""
    checks = _checks(settings)
    clips = sources(settings)
    return [Case(decoder, clip, check) for decoder in settings.decoder for clip in clips for check in checks]


def corpus_cases(settings: Settings) -> list[CorpusCase]:
    """Every decoder × recipe, of the corpus that ships and the settings' own; none where other checks are named."""
    if settings.checks and CORPUS not in settings.checks:
        return []
    recipes = corpus.recipes(map(Path, settings.corpus))
    return [CorpusCase(decoder, recipe) for decoder in settings.decoder for recipe in recipes]


def loader_cases(settings: Settings) -> list[LoaderCase]:
    """Every loader × check of the settings."""
    checks = [name for name in LOADER_CHECKS if not settings.checks or name in settings.checks]
    return [LoaderCase(loader, check) for loader in settings.loader for check in checks]


def source(text: str) -> ClipSource:
    """The clip that one text names: a codec, a recipe, a named clip, or else a file.

    Raises:
        OptionError, FormError: for a text that is none of them.
    """
    if text.partition(":")[0] not in rules.CODECS and text not in CATALOGUE:
        if os.path.exists(text) or Path(text).suffix.lower() in VIDEO_ENDINGS:
            return Path(text)
        raise OptionError(
            f"{text!r} is no clip; give a file, a codec ({', '.join(rules.CODECS)}), a recipe such as "
            "h264:bframes=2, or a name that 'videodecode clip' lists"
        )
    return _recipe(text)


def in_order(verdicts: Iterable[Verdict], settings: Settings) -> list[Verdict]:
    """In the order of ``cases``, however they came in; what the settings do not name comes last, by name."""
    order = [
        [*settings.decoder, *(f"loader {loader}" for loader in settings.loader)],
        [spec.name for spec in _generated(settings.codecs)],
        CHECK_NAMES,
    ]

    def place(verdict: Verdict) -> list[tuple[int, str]]:
        names = (verdict.decoder, verdict.clip, verdict.check)
        return [
            (known.index(name) if name in known else len(known), name)
            for known, name in zip(order, names, strict=True)
        ]

    return sorted(verdicts, key=place)


def validate(settings: Settings, said_by: Mapping[str, str]) -> None:
    """Look up the names in those settings that ``said_by`` has (name of a setting → how the user wrote it).

    Raises:
        OptionError: for a name that means nothing.
    """
    looks: Mapping[str, Callable[[], object]] = {
        "decoder": lambda: [_known_decoder(decoder) for decoder in settings.decoder],
        "codecs": lambda: _generated(settings.codecs),
        "loader": lambda: [loaders.parse(loader) for loader in settings.loader],
        "checks": lambda: _checks(settings),
        "clips": lambda: _real(settings.clips),
        "expected": lambda: read_expected(settings),
        "twin": lambda: _known_decoder(settings.twin) if settings.twin else None,
        "against": lambda: _known_decoder(settings.against) if settings.against else None,
        "limits": lambda: check_limits(dict(settings.limits)),
        "require": lambda: _known_names(settings),
    }
    for name, look in looks.items():
        if name in said_by:
            try:
                look()
            except VideodecodeError as error:
                raise OptionError(f"{said_by[name]}: {error}") from None


def _known_decoder(text: str) -> DecoderSpec:
    spec = parse(text)
    if ":" not in spec.target and spec.target not in registry.REGISTERED:
        registry.load(spec)  # raises, and says what is registered
    return spec


def _checks(settings: Settings) -> list[str]:
    if unknown := sorted(set(settings.checks) - {*CHECK_NAMES[:-1]}):
        raise OptionError(f"there is no check {unknown[0]!r}; choose from {', '.join(CHECK_NAMES[:-1])}")
    names = [name for name in settings.checks if name in catalogue.CHECKS]
    return [check.__name__ for check in catalogue.select(names)] if names or not settings.checks else []


def real_files(settings: Settings) -> dict[str, Path]:
    """The real files of the settings, by name."""
    return {path.name: path for path in _real(settings.clips)}


def read_expected(settings: Settings) -> Sequence[Expected]:
    """The verdicts that are known to be otherwise."""
    return load_expected(Path(settings.expected)) if settings.expected else ()


def _known_names(settings: Settings) -> None:
    specs = _generated(settings.codecs)
    known = {"all", *catalogue.CHECKS, CORPUS, *LOADER_CHECKS, *(case.name for case in loader_cases(settings))}
    known |= {*settings.decoder, *real_files(settings)}
    known |= {name for spec in specs for name in (spec.codec, spec.name)}
    if unknown := [name for name in settings.require if name not in known]:
        raise OptionError(f"{unknown[0]!r} is nothing in this run; choose from {', '.join(sorted(known))}")


def _generated(codecs: Iterable[str]) -> list[ClipSpec]:
    specs = [_recipe(text) for text in codecs]
    for spec in specs:
        rules.require_usable(spec)
    return list(dict.fromkeys(specs))


def _recipe(text: str) -> ClipSpec:
    if ":" in text:
        return ClipSpec.parse(text)
    return CATALOGUE.get(text) or specs_for([text])[0]


def _real(paths: Iterable[str]) -> list[Path]:
    return list(dict.fromkeys(file for path in paths for file in _video_files(Path(path))))


def _video_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        files = sorted(file for file in path.iterdir() if file.suffix.lower() in VIDEO_ENDINGS)
    except OSError as error:
        raise OptionError(f"cannot look into {path}: {error.strerror}; correct its permissions") from None
    if not files:
        raise OptionError(f"no video files in {path}; endings known are {_ENDINGS}")
    return files
