"""`aj doctor`: find problems with the journal and its sources."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from agent_journal import discovery
from agent_journal.cli._home import home
from agent_journal.cli._run import FAILED
from agent_journal.journal import doctor
from agent_journal.terminal import show, show_json
from agent_journal.terminal.command_name import with_command_name
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.journal.doctor import Finding


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--adopt", is_flag=True, help="First assign a journal that another machine used to this one.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per finding, then the verdict.")
def command(*, adopt: bool, as_json: bool) -> int:
    """Show where each tool stores its conversations, when it deletes them, and any problems.

    Nothing is changed, except that an interrupted 'aj forget' is finished. Exit code 1 if there are problems;
    each is shown with its solution.
    """
    if adopt:
        doctor.adopt(home())
    problems = 0
    topic = ""
    for finding in doctor.findings(home(), os.environ, discovery.here(), time.time_ns()):
        problems += bool(finding.act)
        if as_json:
            show_json(finding.to_dict())
        else:
            _show(finding, "" if finding.topic == topic else finding.topic)
        topic = finding.topic
    if as_json:
        show_json({"ok": not problems, "problems": problems})
    elif problems:
        show(("bad", f"{count(problems, 'problem')} found."))
    else:
        show(("good", "No problems found."))
    return FAILED if problems else 0


def _show(finding: Finding, heading: str) -> None:
    show(
        ("strong", f"{heading:12}"),
        ("bad" if finding.act else "good", "!" if finding.act else "·"),
        " ",
        with_command_name(finding.says),
    )
    if finding.act:
        show(" " * 14, ("bad", with_command_name(finding.act)))
