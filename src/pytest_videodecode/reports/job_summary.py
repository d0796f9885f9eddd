"""The run as Markdown, for the page of a CI job: GitHub shows what is appended to ``$GITHUB_STEP_SUMMARY``.

Names of files and words of libraries stand in it, so that every text is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_videodecode.errors import OptionError
from pytest_videodecode.model import Status, Verdict
from pytest_videodecode.reports.files import write_whole
from pytest_videodecode.reports.summary import headline, is_good
from pytest_videodecode.reports.throughput import COLUMNS, Throughput, compared, headlines, rows

#: Failures that are shown; GitHub refuses a summary of more than 1 MiB as a whole.
_MOST = 50

_LONGEST = 500

_SPECIAL = re.compile(r"([\\`*_\[\]#|~])|^(\d*)([.)+-])(?=\s|$)")


def job_summary(verdicts: Sequence[Verdict], seed: int, throughput: Throughput | None = None) -> str:
    """The whole text, in the Markdown of GitHub and GitLab."""
    parts = ["## videodecode"]
    if verdicts:
        parts += _checks(verdicts, seed)
    if throughput is not None:
        parts += _throughput(throughput)
    return "\n\n".join(parts) + "\n"


def write_job_summary(text: str, folder: Path | None, page: str) -> None:
    """Write ``summary.md`` into ``folder``, and add ``text`` to the file ``page``; either may be missing.

    Raises:
        OptionError: where one of them cannot be written.
    """
    if folder:
        write_whole(folder / "summary.md", text)
    if page:
        try:
            with open(page, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError as error:
            raise OptionError(f"cannot add to the summary of the job, {page}: {error.strerror}") from None


def escaped(text: str) -> str:
    """``text`` as one line that Markdown and HTML show as it is."""
    one_line = " ".join(text.split())
    short = one_line if len(one_line) <= _LONGEST else one_line[:_LONGEST] + "…"
    return _SPECIAL.sub(lambda found: f"{found[2] or ''}\\{found[1] or found[3]}", html.escape(short, quote=False))


def _checks(verdicts: Sequence[Verdict], seed: int) -> Iterator[str]:
    yield escaped(headline(verdicts, seed))
    checks = list(dict.fromkeys(verdict.check for verdict in verdicts))
    decoders = list(dict.fromkeys(verdict.decoder for verdict in verdicts))
    yield _table(
        ["decoder", *checks],
        [[decoder, *(_cell(verdicts, decoder, check) for check in checks)] for decoder in decoders],
    )
    failed = [v for v in verdicts if v.status in (Status.FAILED, Status.ERROR) and not v.expected]
    lines = [
        f"* **{escaped(f'{verdict.check} of {verdict.decoder} on {verdict.clip}')}**: {escaped(verdict.reason)}"
        + (f"<br>{escaped(verdict.replay)}" if verdict.replay else "")
        for verdict in failed[:_MOST]
    ]
    if len(failed) > _MOST:
        lines.append(f"* and {len(failed) - _MOST} more")
    if lines:
        yield "\n".join(lines)


def _cell(verdicts: Sequence[Verdict], decoder: str, check: str) -> str:
    own = [verdict for verdict in verdicts if (verdict.decoder, verdict.check) == (decoder, check)]
    made = [verdict for verdict in own if verdict.status is not Status.UNSUPPORTED]
    if not made:
        return "unsupported" if own else ""
    good = sum(is_good(verdict) for verdict in made)
    return f"{'✅' if good == len(made) else '❌'} {good}/{len(made)}"


def _throughput(report: Throughput) -> Iterator[str]:
    yield "### Throughput"
    if report.measurements:
        yield "\n".join(escaped(line) for line in headlines(report.measurements))
        yield _table(COLUMNS, rows(report.measurements))
    lines: Mapping[str, Sequence[str]] = {
        "❌ ": report.faults,
        "": [
            *(compared(codec, one) for codec, several in report.comparisons.items() for one in several),
            *(f"gate: {gate}" for gate in report.gates),
            *(f"note: {note}" for note in report.notes),
            *(f"unsupported: {line}" for line in report.unsupported),
        ],
    }
    shown = [f"* {sign}{escaped(line)}" for sign, some in lines.items() for line in some]
    if shown:
        yield "\n".join(shown[:_MOST])


def _table(header: Sequence[str], body: Iterator[list[str]] | Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header)]
    texts = ["| " + " | ".join(line) + " |" for line in [[escaped(name) for name in lines[0]], lines[1]]]
    return "\n".join([*texts, *("| " + " | ".join(map(escaped, row)) + " |" for row in body)])
