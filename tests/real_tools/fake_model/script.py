"""What the fake model does, as the prompt says.

`<<shell: CMD>> <<read: PATH>> <<write: PATH | TEXT>> <<edit: PATH | OLD | NEW>> <<task: NAME>>` and
`<<call: TOOL | JSON>>` are called one after the other, or all in one answer with `<<par>>`; then comes a
text with the word of
`<<end: WORD>>`. With `<<hang>>` that text stops in the middle, so that the client can be interrupted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.real_tools.fake_model.exchange import Asked, OfferedTool, PlannedCall, Reply, Turn

# What a `<<task: NAME>>` asks the subagent to do.
SUBAGENT_PROMPTS = {
    "SUB1": "Count the files in the folder. <<shell: ls | wc -l; echo SUBOUT-$((3*7))>> <<end: NUMBAT>>",
}
SUMMARY = "Compacted WALLABY"
TITLE = "Fake title"

_DIRECTIVE = re.compile(r"<<(shell|read|write|edit|task|call|par|hang|end):?\s*(.*?)>>", re.DOTALL)
_REMINDER = re.compile(r"<(system-reminder|task-notification)>.*?</\1>", re.DOTALL)
_TOOL_NAMES = {
    "shell": (
        r"^bash$|^shell$|^shell_command$|^exec_command$|^run_shell_command$|^run_in_terminal$",
        r"^run_terminal_command$|^execute_command$|^run_commands?$|^terminal$|^local_shell$|^execute_bash$",
        r"bash|shell|execute_command|run_command|terminal|exec",
    ),
    "read": (r"^read$|^read_file$|^view$|^read_files?$|^readfile$|^str_replace_editor$", r"read"),
    "write": (
        r"^write$|^write_file$|^create$|^write_to_file$|^create_new_file$|^create_file$",
        r"write|create",
    ),
    "edit": (
        r"^edit$|^replace$|^edit_file$|^str_replace$|^replace_in_file$|^search_replace$",
        r"edit|replace",
    ),
    "task": (
        r"^spawn_agent$|^task$|^agent$|^subagent$|^use_subagents?$|^invoke_agent$|^delegate",
        r"task|agent",
    ),
    "wait": (r"^wait$|^wait_agent$|^wait_for_agents?$",),
}
_PATHS = {"filepath", "absolutepath", "path", "filename", "targetfile", "file", "abspath"}
_CONTENTS = {"content", "text", "filetext", "contents", "filecontent"}
_OLD = {"oldstring", "oldstr", "oldtext", "search", "old"}
_NEW = {"newstring", "newstr", "newtext", "replace", "new", "replacement"}
_COMMANDS = {"command", "cmd", "script", "commands", "cmds"}
_PROMPTS = {"prompt", "message", "task", "instructions", "query", "objective", "goal"}
_AGENTS = {"subagenttype", "subagentname", "agenttype", "agentname", "agent"}
_WAITED = {"targets", "target", "ids", "id", "agentids", "agentid"}
_DESCRIPTIONS = {"description", "explanation", "taskprogress", "intent", "summary", "title", "reason"}
_EDITOR_VERBS = {"read": "view", "write": "create", "edit": "str_replace"}


def reply_to(asked: Asked, number: int) -> Reply:
    """What the script in the newest prompt says comes next; every text has the number of its request."""
    if asked.schema:
        return Reply(text=json.dumps(_with_title(example_of(asked.schema), number)), purpose="title")
    position = _newest_script(asked.turns)
    if not asked.tools and asked.turns and _asks_for_title(asked):
        title = f"{TITLE} {number}"
        wants_json = "json" in asked.system.lower() and '"title"' in asked.system
        return Reply(text=json.dumps({"title": title}) if wants_json else title, purpose="title")
    if _asks_for_summary(asked):
        tag = "state_snapshot" if "state_snapshot" in asked.system + asked.turns[-1].text else "summary"
        text = f"<{tag}>\nWe looked at files. {SUMMARY} {number}.\n</{tag}>"
        return Reply(text=text, purpose="summary")
    if position is None:
        return Reply(text=f"Generic answer {number}.", purpose="other")
    return _next_step(asked, position, number)


def is_subagent(asked: Asked) -> bool:
    """Whether it does what a `<<task: NAME>>` asked for."""
    position = _newest_script(asked.turns)
    prompts = SUBAGENT_PROMPTS.values()
    return position is not None and any(prompt in asked.turns[position].text for prompt in prompts)


def _newest_script(turns: list[Turn]) -> int | None:
    return next((at for at in reversed(range(len(turns))) if _is_script(turns[at])), None)


def _is_script(turn: Turn) -> bool:
    return turn.role == "user" and "<<end" in turn.text


def _asks_for_title(asked: Asked) -> bool:
    last = asked.turns[-1].text.lower().split("<<")[0]
    # A long system prompt may have the word for any reason.
    if re.search(r"compaction|handoff summary", last):
        return False
    return "title" in asked.system.lower() or "title" in last


def _asks_for_summary(asked: Asked) -> bool:
    """Whether the last message asks for one, beside tool results and reminders, or the system prompt does."""
    if not asked.tools and re.search(r"\bsummari[sz](e|ation)\b", asked.system, re.IGNORECASE):
        return True
    last = asked.turns[-1] if asked.turns else None
    if last is None or last.role != "user" or _is_script(last):
        return False
    text = _REMINDER.sub("", last.text)
    return bool(re.search(r"summar|compact|condens|handoff|snapshot", text, re.IGNORECASE))


def _next_step(asked: Asked, position: int, number: int) -> Reply:
    steps = _steps(asked.turns[position].text)
    kinds = {kind for kind, _ in steps}
    word = steps[-1][1].strip()
    todo = list(_to_call(steps, asked))
    done = sum(turn.results for turn in asked.turns[position + 1 :])
    if not asked.tools:
        return Reply(text=f"Answer {number} without tools: {word}.", purpose="answer", hang="hang" in kinds)
    planned = [_planned(kind, argument, asked.tools) for kind, argument in todo[done:]]
    calls = [call for call in (planned if "par" in kinds else planned[:1]) if call]
    if calls:
        return Reply(text=f"Step {number}: I use {calls[0].tool.name}.", purpose="calls", calls=calls)
    text = f"Answer {number}: done with {done} results, {word}. Grüße, 終わり."
    return Reply(text=text, purpose="answer", hang="hang" in kinds)


def _steps(prompt: str) -> list[tuple[str, str]]:
    """The directives up to the last `<<end>>`; a client may repeat an earlier prompt in the same text."""
    runs: list[list[tuple[str, str]]] = [[]]
    for kind, argument in _DIRECTIVE.findall(prompt):
        runs[-1].append((kind, argument))
        if kind == "end":
            runs.append([])
    return next(run for run in reversed(runs) if run)


def _to_call(steps: list[tuple[str, str]], asked: Asked) -> Iterator[tuple[str, str]]:
    """The directives that are calls; where a call only starts a subagent, another call waits for it."""
    waits = _tool_for("wait", asked.tools)
    for kind, argument in steps:
        if kind in ("par", "hang", "end"):
            continue
        yield kind, argument
        if kind == "task" and waits:
            yield "wait", _started_agent(asked.results)


def _started_agent(results: dict[str, str]) -> str:
    """The id in the newest result that has one."""
    ids = re.findall(r'"agent_?id":\s*"([^"]+)"', "\n".join(results.values()), re.IGNORECASE)
    return ids[-1] if ids else ""


def _planned(kind: str, argument: str, tools: list[OfferedTool]) -> PlannedCall | None:
    if kind == "call":
        name, _, arguments = argument.partition(" | ")
        tool = next((each for each in tools if each.name == name.strip()), None) or _served(name, tools)
        tool = tool or OfferedTool(name=name.strip(), schema={})
        return PlannedCall(
            tool=tool, arguments=arguments if tool.call_shape == "custom" else json.loads(arguments)
        )
    tool = _tool_for(kind, tools)
    return PlannedCall(tool=tool, arguments=_arguments(kind, tool.schema, argument)) if tool else None


def _served(name: str, tools: list[OfferedTool]) -> OfferedTool | None:
    """The tool of an MCP server, as `SERVER/TOOL`: clients put the server's name before it in many ways."""
    server, separator, own_name = name.strip().partition("/")
    wanted = f"_{_plain(server)}_{_plain(own_name)}"
    names = ((each, f"_{_plain(each.namespace or '')}_{_plain(each.name)}") for each in tools)
    return next((each for each, full in names if separator and _plain(full).endswith(wanted)), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _tool_for(kind: str, tools: list[OfferedTool]) -> OfferedTool | None:
    for pattern in _TOOL_NAMES[kind]:
        for tool in tools:
            if re.search(pattern, tool.name, re.IGNORECASE):
                return tool
    return None


def _arguments(kind: str, schema: dict[str, Any], argument: str) -> dict[str, Any]:
    properties = schema.get("properties") or {}
    required = schema.get("required") or []
    if not properties:
        return {"command": argument} if kind == "shell" else {}
    values = {}
    for name, about in properties.items():
        value = _argument(kind, name, about, argument)
        if value is None and name in required:
            value = _required(kind, name, about)
        if value is not None:
            values[name] = value
    return values


def _argument(kind: str, name: str, about: dict[str, Any], argument: str) -> Any:
    """What the script says about this parameter, or None."""
    flat = name.lower().replace("-", "").replace("_", "")
    pieces = [piece.strip() for piece in argument.split(" | ")]
    if kind == "shell" and flat in _COMMANDS:
        return _command(flat, about, argument)
    if kind == "read" and _type(about) == "array" and re.search("file|path", flat):
        items = about.get("items") or {}
        return [_arguments(kind, items, argument)] if _type(items) == "object" else [pieces[0]]
    if kind in ("read", "write", "edit") and flat in _PATHS:
        return pieces[0]
    if kind == "write" and flat in _CONTENTS:
        return pieces[1]
    if kind == "edit":
        return _edit_argument(flat, about, argument, pieces)
    if kind == "task":
        return _task_argument(flat, about, argument, pieces)
    if kind == "wait" and flat in _WAITED:
        return [argument] if _type(about) == "array" else argument
    return None


def _command(flat: str, about: dict[str, Any], command: str) -> Any:
    if _type(about) != "array":
        return command
    items = about.get("items") or {}
    if _type(items) == "object":
        return [_arguments("shell", items, command)]
    return [command] if flat.endswith("s") else ["bash", "-lc", command]


def _edit_argument(flat: str, about: dict[str, Any], argument: str, pieces: list[str]) -> Any:
    if flat in _OLD:
        return pieces[1]
    if flat in _NEW:
        return pieces[2]
    if flat in ("edits", "changes", "replacements") and _type(about) == "array":
        return [_arguments("edit", about.get("items") or {}, argument)]
    return None


def _task_argument(flat: str, about: dict[str, Any], argument: str, pieces: list[str]) -> Any:
    prompt = SUBAGENT_PROMPTS[pieces[0]]
    if flat in _PROMPTS:
        return prompt
    if flat in ("prompts", "tasks") and _type(about) == "array":
        items = about.get("items") or {}
        return [_arguments("task", items, argument)] if _type(items) == "object" else [prompt]
    if flat in _AGENTS:
        return about["enum"][0] if "enum" in about else pieces[1]
    return None


def _required(kind: str, name: str, about: dict[str, Any]) -> Any:
    flat = name.lower().replace("_", "")
    if flat in _DESCRIPTIONS:
        return "Do a little thing"
    if flat == "command" and "enum" in about:
        return _EDITOR_VERBS.get(kind, about["enum"][0])
    return example_of(about)


def _type(about: dict[str, Any]) -> str:
    stated = about.get("type", "string")
    if isinstance(stated, list):
        stated = next(each for each in stated if each != "null")
    return str(stated).lower()


def example_of(schema: dict[str, Any]) -> Any:
    """A value that the JSON schema accepts."""
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for alternatives in ("anyOf", "oneOf"):
        if schema.get(alternatives):
            return example_of(schema[alternatives][0])
    properties = schema.get("properties") or {}
    examples: dict[str, Any] = {"boolean": False, "integer": 1, "number": 1}
    kind = _type(schema)
    if kind == "object":
        names = schema.get("required") or list(properties)
        return {name: example_of(properties[name]) for name in names if name in properties}
    return [example_of(schema.get("items") or {})] if kind == "array" else examples.get(kind, "fake")


def _with_title(value: Any, number: int) -> Any:
    if isinstance(value, dict):
        return {
            name: f"{TITLE} {number}" if name in ("title", "summary", "name") else each
            for name, each in value.items()
        }
    return value
