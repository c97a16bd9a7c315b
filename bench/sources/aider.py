"""A chat history in Markdown, with many sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sources.writing import MB, Scribe

if TYPE_CHECKING:
    from pathlib import Path

_BANNER = "> Aider v0.86.1  \n> Main model: claude-sonnet-4-5 with diff edit format  \n> Git repo: .git  \n"
_EDIT = "\n\ncli.py\n```python\n<<<<<<< SEARCH\n{}\n=======\n{}\n>>>>>>> REPLACE\n```\n\n"
_SPENT = (
    "> Tokens: 5.2k sent, 310 received. Cost: $0.02 message, $0.02 session.  \n> Applied edit to cli.py  \n"
)


def make(folder: Path, megabytes: int) -> list[Path]:
    """One file."""
    scribe, parts, size = Scribe(), [], 0
    while size < megabytes * MB:
        part = f"\n# aider chat started at {scribe.moment(900):%Y-%m-%d %H:%M:%S}\n\n{_BANNER}"
        for _ in range(scribe.random.randrange(2, 20)):
            asked = "".join(f"#### {line}  \n" for line in scribe.prompt().splitlines() if line)
            edit = _EDIT.format(scribe.some(200, 2000), scribe.some(200, 2000))
            part += f"\n{asked}\n{scribe.answer().strip()}{edit}{_SPENT}"
        parts.append(part)
        size += len(part)
    path = folder / ".aider.chat.history.md"
    path.write_text("".join(parts), encoding="utf-8")
    return [path]


KINDS = {"history": make}
