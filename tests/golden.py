"""Golden files: a failing comparison prints each JSON path that differs, ready to paste.

The paths are assignments for `jq`, which turn the golden file into what was produced:

    jq --indent 1 '
      .conversations[0].title = "Tea"  # was "Coffee"
      | del(.notes[2:3])
    ' expected.json
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_SHOWN_PATHS = 60
_MAX_OLD_VALUE_CHARS = 80
_MAX_TEXT_DIFF_LINES = 80
_MISSING = object()
_HERE = Path(__file__).parent.parent


def named(golden: Path) -> str:
    """The path of a golden file, as a command at the top of the repository takes it."""
    return golden.relative_to(_HERE).as_posix()


def assert_same_json(expected: Any, actual: Any, name: str) -> None:
    """Fail with the paths that differ."""
    if edits := [*edits_between(expected, actual)]:
        pytest.fail(described(edits, name), pytrace=False)


def assert_same_files(expected: Mapping[str, bytes], actual: Mapping[str, bytes], golden: str) -> None:
    """Fail with the paths that differ in each JSON file, and with the lines that differ in any other one."""
    reports: list[str] = []
    for path in sorted(expected.keys() | actual.keys()):
        name = f"{golden}/{path}" if path else golden
        if path not in actual or path not in expected:
            reports.append(f"{name} is {'no longer' if path in expected else 'newly'} written.")
        elif expected[path] != actual[path]:
            reports.append(_file_report(expected[path], actual[path], name))
    if reports:
        pytest.fail("\n\n".join(reports), pytrace=False)


def _file_report(expected: bytes, actual: bytes, name: str) -> str:
    before, after = _documents(expected), _documents(actual)
    if before is None or after is None:
        lines = difflib.unified_diff(
            expected.decode(errors="replace").splitlines(),
            actual.decode(errors="replace").splitlines(),
            name,
            "produced",
            lineterm="",
        )
        return "\n".join([*lines][:_MAX_TEXT_DIFF_LINES])
    if len(before) == len(after) == 1:
        return described([*edits_between(before[0], after[0])], name)
    return described([*edits_between(before, after)], f"<(jq -s . {name})")


def _documents(data: bytes) -> list[Any] | None:
    """The JSON documents in a file, which may have one on each line; None if it is not JSON."""
    try:
        return [json.loads(data)]
    except ValueError:
        pass
    try:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    except ValueError:
        return None


def described(edits: list[str], name: str) -> str:
    """The edits as one command; without edits, the order of names or the white space differs."""
    if not edits:
        return f"{name} has the same values in another order or form; --accept rewrites it."
    shown = edits[:_MAX_SHOWN_PATHS]
    more = [f"  # and {len(edits) - len(shown)} more"] if len(edits) > len(shown) else []
    first, *others = shown
    script = [f"  {first}", *(f"  | {edit}" for edit in others), *more]
    paths = "path differs" if len(edits) == 1 else "paths differ"
    return "\n".join([f"{len(edits)} {paths}:", "jq --indent 1 '", *script, f"' {name}"])


def edits_between(expected: Any, actual: Any) -> Iterator[str]:
    """Yield the assignments that turn one value into the other."""
    pending: list[tuple[str, Any, Any]] = [("", expected, actual)]
    while pending:
        path, before, after = pending.pop()
        if isinstance(before, dict) and isinstance(after, dict):
            names = [*before, *(name for name in after if name not in before)]
            pending += [
                (_member(path, name), before.get(name, _MISSING), after.get(name, _MISSING))
                for name in reversed(names)
            ]
        elif isinstance(before, list) and isinstance(after, list):
            edit, pairs = _compared_lists(path, before, after)
            pending += reversed(pairs)
            if edit is not None:
                yield edit
        elif after is _MISSING:
            yield f"del({path}){_old(before)}"
        elif before is _MISSING:
            yield f"{path} = {_json(after)}"
        elif _json(before) != _json(after):
            yield f"{path or '.'} = {_json(after)}{_old(before)}"


def _compared_lists(
    path: str, before: list[Any], after: list[Any]
) -> tuple[str | None, list[tuple[str, Any, Any]]]:
    """The insertion or deletion that makes lists equally long, and the elements to compare after it."""
    one, two = [*map(_json, before)], [*map(_json, after)]
    shorter = min(len(one), len(two))
    start = next((index for index in range(shorter) if one[index] != two[index]), shorter)
    end = next(
        (index for index in range(shorter - start) if one[-1 - index] != two[-1 - index]), shorter - start
    )
    changed = min(len(one), len(two)) - start - end
    at = start + changed
    pairs = [(f"{path or '.'}[{index}]", before[index], after[index]) for index in range(start, at)]
    if len(one) > len(two):
        removed = slice(at, len(one) - end)
        return f"del({path or '.'}[{removed.start}:{removed.stop}]){_old(before[removed])}", pairs
    if len(two) > len(one):
        return f"{path or '.'}[{at}:{at}] = {_json(after[at : len(two) - end])}", pairs
    return None, pairs


def _member(path: str, name: str) -> str:
    return f"{path}.{name}" if _PLAIN_NAME.fullmatch(name) else f"{path or '.'}[{_json(name)}]"


def _old(value: Any) -> str:
    text = _json(value)
    return f"  # was {text if len(text) <= _MAX_OLD_VALUE_CHARS else text[:_MAX_OLD_VALUE_CHARS] + '…'}"


def _json(value: Any) -> str:
    # An apostrophe would end the quotes of the shell.
    return json.dumps(value, ensure_ascii=False, sort_keys=True).replace("'", "\\u0027")
