"""The command in hints, as the user called it: `aj`, or `./aj` in a checkout."""

from __future__ import annotations

import os
import sys

# Set by the script `aj` at the top of a checkout, which is not the program that runs in the end.
VARIABLE = "AJ_CALLED_AS"
_NAME = "aj"


def command_name() -> str:
    """What to type to call `aj` the same way again."""
    called = os.environ.get(VARIABLE) or sys.argv[0]
    folder, name = os.path.split(called)
    if name != _NAME or (called.startswith(os.sep) and folder in os.get_exec_path()):
        return _NAME  # also for `python -m agent_journal` and aj.exe
    return called


def with_command_name(text: str) -> str:
    """A text of ours whose hints (`'aj sync'`) and usage line name the command as it was called."""
    name = command_name()
    if name == _NAME:
        return text
    for before in ("'", "Usage: "):
        for after in (" ", "\n"):  # a help text may be wrapped here
            text = text.replace(f"{before}{_NAME}{after}", f"{before}{name}{after}")
    return text
