"""`aj doctor`: whether the journal, and what it is made from, is in good order."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from agent_journal import archive, config, discovery
from agent_journal.cli._run import FAILED
from agent_journal.journal import doctor
from agent_journal.terminal import show, show_json
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from agent_journal.journal.doctor import Finding


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--adopt", is_flag=True, help="First make the journal this machine's, if another one used it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per finding, then the verdict.")
def command(*, adopt: bool, as_json: bool) -> int:
    """Tell what was found where, which tools delete their histories and when, and what is wrong.

    Nothing is changed, but for an 'aj forget' that failed halfway, which is finished. Exit code 1 if there is
    something to act on; what to do is said with it.
    """
    if adopt:
        archive.open_to_read(config.home_of(os.environ)).close()  # there must be one
        archive.open_to_write(config.home_of(os.environ), make=False, adopt=True).close()
    wrong = 0
    topic = ""
    for finding in doctor.findings(config.home_of(os.environ), os.environ, discovery.here(), time.time_ns()):
        wrong += bool(finding.act)
        if as_json:
            show_json(_as_data(finding))
        else:
            _show(finding, "" if finding.topic == topic else finding.topic)
        topic = finding.topic
    if as_json:
        show_json({"ok": not wrong, "problems": wrong})
    elif wrong:
        show(("bad", f"{count(wrong, 'thing')} to act on"))
    else:
        show(("good", "everything is in order"))
    return FAILED if wrong else 0


def _as_data(finding: Finding) -> dict[str, object]:
    return {
        "topic": finding.topic,
        "ok": not finding.act,
        "says": finding.says,
        "act": finding.act or None,
        **({"data": finding.data} if finding.data else {}),
    }


def _show(finding: Finding, heading: str) -> None:
    show(
        ("strong", f"{heading:12}"),
        ("bad" if finding.act else "good", "!" if finding.act else "·"),
        " ",
        finding.says,
    )
    if finding.act:
        show(" " * 14, ("bad", finding.act))
