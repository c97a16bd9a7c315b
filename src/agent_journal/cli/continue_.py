"""`aj continue`: continue a conversation in another tool."""

from __future__ import annotations

import os
import shutil
import subprocess
from shlex import quote, split
from typing import TYPE_CHECKING

import click

from agent_journal import discovery
from agent_journal.cli._journal import open_journal
from agent_journal.cli._main_conversation import main_conversation
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._output import output_path
from agent_journal.cli._run import FAILED, PARTLY
from agent_journal.notes import Notes
from agent_journal.terminal import flush, say, show, show_json
from agent_journal.text.humanize import count
from agent_journal.text.sanitize import quoted

if TYPE_CHECKING:
    from agent_journal.journal import Damage, Journal
    from agent_journal.journal.continuing import WrittenSession
    from agent_journal.model import Conversation


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", metavar="ID")
@click.option("--in", "tool", required=True, metavar="TOOL", help="The tool, as 'aj formats' calls it.")
@click.option(
    "-o",
    "folder",
    metavar="DIR",
    callback=output_path,
    help="Write below this folder instead of where the tool looks.",
)
@click.option("--run", "runs", is_flag=True, help="Run the tool; otherwise its command is only printed.")
@click.option("--json", "as_json", is_flag=True, help="Print the session as one JSON object.")
def command(*, name: str, tool: str, folder: str | None, runs: bool, as_json: bool) -> int:
    """Continue a conversation in another tool, in the current folder.

    It is written as a session of that tool, and the command that resumes it is printed. Existing files are
    never overwritten. A tool continues the current branch; what it cannot have is noted.
    """
    from agent_journal.journal import continuing  # noqa: PLC0415

    continuing.tool_called(tool)  # raises if there is no such tool
    if runs and as_json:
        raise click.UsageError("--run and --json cannot be combined.")
    program = split(continuing.resume_command(tool))[0]
    if runs and shutil.which(program) is None:
        say(f"aj: Cannot run {program}: it is not installed, or not on the PATH. Nothing was written.")
        return FAILED
    project = discovery.here()
    if project is None:
        say("aj: The current folder no longer exists; change to the folder of the project.")
        return FAILED
    damage: list[Damage] = []
    printer = NotePrinter()
    notes = Notes(sink=printer, keep=1_000)
    with open_journal() as journal:
        conversation, subagents = _conversations(journal, name, damage)
        session = continuing.write_session(
            conversation,
            subagents,
            tool,
            project=project,
            folder=folder,
            environ=os.environ,
            notes=notes,
        )
    printer.finish(notes)
    for each in damage:
        say(f"aj: {conversation.source}:{conversation.id}: {each.description}")
    arguments = [part.format(id=session.id) for part in split(continuing.resume_command(tool))]
    _report(session, arguments, project, as_json=as_json)
    if runs:
        flush()
        environ = {**os.environ, session.variable: session.root} if session.variable else {**os.environ}
        return subprocess.run(arguments, cwd=project, env=environ, check=False).returncode  # noqa: S603 (the tool)
    return PARTLY if any(each.is_missing for each in damage) else 0


def _conversations(
    journal: Journal, name: str, damage: list[Damage]
) -> tuple[Conversation, list[Conversation]]:
    """Return a conversation with all that is stored of it, and those of its subagents."""
    listed = main_conversation(journal, journal.one(name))
    children = [each for each in journal.children(listed) if each.relation == "subagent"]
    whole = [
        journal.get(each, exact=True, media=True, on_damage=damage.append) for each in [listed, *children]
    ]
    return whole[0], whole[1:]


def _report(session: WrittenSession, arguments: list[str], project: str, *, as_json: bool) -> None:
    assignment = f"{session.variable}={quote(session.root)} " if session.variable else ""
    text = f"cd {quote(project)} && {assignment}{' '.join(map(quote, arguments))}"
    if as_json:
        show_json({**session.to_dict(), "command": text})
        return
    if session.is_new:
        say(f"aj: Wrote {count(len(session.paths), 'file')} below {quoted(session.root)}.")
    else:
        say("aj: The session was written before, and has not been continued since.")
    show(text)
