"""The numbers and names of fields in the vendor's public definition of tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.warp.wire import BYTES, EACH, FLAG, NUMBER, STRUCT, TEXT, Schema

if TYPE_CHECKING:
    from agent_journal.model import ToolKind


def _each(form: Any) -> tuple[str, Any]:
    return (EACH, form)


def _texts(*names: str) -> Schema:
    """A schema of texts, numbered from 1."""
    return {number: (name, TEXT) for number, name in enumerate(names, 1)}


_RANGE: Schema = {1: ("start", NUMBER), 2: ("end", NUMBER)}
_FILE: Schema = {1: ("file_path", TEXT), 2: ("content", TEXT), 3: ("line_range", _RANGE)}
_ANY_FILE: Schema = {
    5: ("binary_content", {1: ("file_path", TEXT), 4: ("data", BYTES)}),
    6: ("text_content", _FILE),
}
_DIFF = _texts("file_path", "search", "replace")
_HUNK: Schema = {
    1: ("change_context", _each(TEXT)),
    2: ("pre_context", TEXT),
    3: ("old", TEXT),
    4: ("new", TEXT),
    5: ("post_context", TEXT),
}
_DIFFS: Schema = {
    1: ("summary", TEXT),
    2: ("diffs", _each(_DIFF)),
    3: ("new_files", _each(_texts("file_path", "content"))),
    4: ("deleted_files", _each(_texts("file_path"))),
    5: ("v4a_updates", _each({1: ("file_path", TEXT), 2: ("move_to", TEXT), 3: ("hunks", _each(_HUNK))})),
}
_SHELL: Schema = {
    1: ("command", TEXT),
    2: ("is_read_only", FLAG),
    3: ("uses_pager", FLAG),
    5: ("is_risky", FLAG),
    6: ("wait_until_complete", FLAG),
    7: ("risk_category", NUMBER),
}
_PATTERNS: Schema = {1: ("patterns", _each(TEXT)), 2: ("path", TEXT)}
_FILES: Schema = {1: ("files", _each({1: ("name", TEXT), 2: ("line_ranges", _each(_RANGE))}))}

CALLS: Schema = {
    1: ("tool_call_id", TEXT),
    2: ("run_shell_command", _SHELL),
    3: (
        "search_codebase",
        {1: ("query", TEXT), 2: ("path_filters", _each(TEXT)), 3: ("codebase_path", TEXT)},
    ),
    4: ("server", _texts("payload")),
    5: ("read_files", _FILES),
    6: ("apply_file_diffs", _DIFFS),
    7: ("suggest_plan", {1: ("summary", TEXT), 2: ("proposed_tasks", _each(None))}),
    8: ("suggest_create_plan", {}),
    9: ("grep", {1: ("queries", _each(TEXT)), 2: ("path", TEXT)}),
    10: ("file_glob", _PATTERNS),
    11: ("read_mcp_resource", _texts("uri", "server_id")),
    12: ("call_mcp_tool", {1: ("name", TEXT), 2: ("args", STRUCT), 3: ("server_id", TEXT)}),
    13: (
        "write_to_long_running_shell_command",
        {1: ("input", TEXT), 2: ("mode", None), 3: ("command_id", TEXT)},
    ),
    14: ("suggest_new_conversation", _texts("message_id")),
    15: (
        "file_glob_v2",
        {
            1: ("patterns", _each(TEXT)),
            2: ("search_dir", TEXT),
            **{number: (f"limit_{number}", NUMBER) for number in (3, 4, 5)},
        },
    ),
    16: ("suggest_prompt", {}),
    17: ("open_code_review", {}),
    18: ("init_project", {}),
    19: ("subagent", {1: ("task_id", TEXT), 2: ("payload", TEXT), 3: ("cli", _texts("command_id"))}),
    20: ("read_documents", {1: ("documents", _each({1: ("document_id", TEXT)}))}),
    21: ("edit_documents", {1: ("diffs", _each(_texts("document_id", "search", "replace")))}),
    22: ("create_documents", {1: ("new_documents", _each(_texts("content", "title")))}),
    23: ("read_shell_command_output", _texts("command_id")),
    24: ("use_computer", {3: ("action_summary", TEXT)}),
    25: ("insert_review_comments", {1: ("repo_path", TEXT), 3: ("base_branch", TEXT)}),
    26: ("read_skill", _texts("skill_path", "bundled_skill_id", "name")),
    27: ("request_computer_use", _texts("task_summary")),
    28: ("fetch_conversation", _texts("conversation_id")),
    29: ("start_agent", _texts("name", "prompt")),
    30: (
        "send_message_to_agent",
        {1: ("addresses", _each(TEXT)), 2: ("subject", TEXT), 3: ("message", TEXT)},
    ),
    31: ("transfer_shell_command_control_to_user", _texts("reason")),
}

_ERROR = _texts("message")
_FINISHED: Schema = {1: ("output", TEXT), 2: ("exit_code", NUMBER), 3: ("command_id", TEXT)}
_SHELL_RESULT: Schema = {
    1: ("output", TEXT),
    2: ("exit_code", NUMBER),
    3: ("command", TEXT),
    4: ("long_running_command_snapshot", None),
    5: ("command_finished", _FINISHED),
    6: ("permission_denied", {}),
}
_LONG_RESULT: Schema = {
    1: ("long_running_command_snapshot", None),
    2: ("command_finished", _FINISHED),
    3: ("error", {}),
}


def _result(success: Schema) -> Schema:
    return {1: ("success", success), 2: ("error", _ERROR)}


_MCP_CONTENT: Schema = {
    1: ("text", _texts("text")),
    2: ("image", {1: ("data", BYTES), 2: ("mime_type", TEXT)}),
    3: ("resource", None),
}
_DOCUMENTS: Schema = {1: ("documents", _each(_texts("document_id", "content")))}

RESULTS: Schema = {
    1: ("tool_call_id", TEXT),
    2: ("run_shell_command", _SHELL_RESULT),
    3: ("search_codebase", _result({1: ("files", _each(_FILE))})),
    4: ("server", _texts("serialized_result")),
    5: (
        "read_files",
        {
            1: ("success", {1: ("files", _each(_FILE))}),
            2: ("error", _ERROR),
            3: ("any_files_success", {1: ("files", _each(_ANY_FILE))}),
        },
    ),
    6: (
        "apply_file_diffs",
        _result(
            {
                1: ("updated_files", _each(_FILE)),
                2: ("updated_files_v2", _each({1: ("file", _FILE), 2: ("was_edited_by_user", FLAG)})),
                3: ("deleted_files", _each(_texts("file_path"))),
            }
        ),
    ),
    7: ("suggest_plan", {1: ("accepted", {}), 2: ("user_edited_plan", _texts("plan_text"))}),
    8: ("suggest_create_plan", {1: ("accepted", FLAG)}),
    9: (
        "grep",
        _result(
            {
                1: (
                    "matched_files",
                    _each(
                        {1: ("file_path", TEXT), 2: ("matched_lines", _each({1: ("line_number", NUMBER)}))}
                    ),
                )
            }
        ),
    ),
    10: ("file_glob", _result(_texts("matched_files"))),
    14: ("cancel", {}),
    15: ("read_mcp_resource", _result({1: ("contents", _each(None))})),
    16: ("call_mcp_tool", _result({1: ("results", _each(_MCP_CONTENT))})),
    17: ("write_to_long_running_shell_command", _LONG_RESULT),
    18: ("suggest_new_conversation", {1: ("accepted", None), 2: ("rejected", {})}),
    19: ("file_glob_v2", _result({1: ("matched_files", _each(_texts("file_path"))), 2: ("warnings", TEXT)})),
    20: ("suggest_prompt", {1: ("accepted", {}), 2: ("rejected", {})}),
    23: ("subagent", _texts("payload")),
    24: ("read_documents", _result(_DOCUMENTS)),
    25: ("edit_documents", _result(_DOCUMENTS)),
    26: ("create_documents", _result(_DOCUMENTS)),
    27: (
        "read_shell_command_output",
        {
            1: ("command", TEXT),
            2: ("long_running_command_snapshot", None),
            3: ("command_finished", _FINISHED),
            4: ("error", {}),
        },
    ),
    30: ("read_skill", _result({1: ("content", _FILE)})),
    33: ("start_agent", {1: ("success", _texts("agent_id")), 2: ("error", _texts("message"))}),
    34: ("send_message_to_agent", _result(_texts("message_id"))),
}

_TIME: Schema = {1: ("seconds", NUMBER), 2: ("nanos", NUMBER)}
_CONTEXT: Schema = {
    1: ("directory", {1: ("pwd", TEXT), 2: ("home", TEXT), 3: ("pwd_file_symbols_indexed", FLAG)}),
    2: ("operating_system", _texts("platform", "distribution")),
    3: ("shell", _texts("name", "version")),
    4: ("current_time", _TIME),
    6: ("selected_text", _each(_texts("text"))),
    7: ("images", _each({1: ("data", BYTES), 2: ("mime_type", TEXT)})),
    8: ("codebases", _each(_texts("name", "path"))),
    9: ("files", _each({1: ("content", _FILE)})),
    10: ("project_rules", _each(_texts("file_path", "content"))),
}
_QUERY: Schema = {1: ("query", TEXT), 2: ("context", _CONTEXT)}
_PAGES: Schema = {1: ("url", TEXT), 2: ("title", TEXT), 3: ("success", FLAG)}

MESSAGE: Schema = {
    1: ("id", TEXT),
    2: ("user_query", _QUERY),
    3: ("agent_output", _texts("text")),
    4: ("tool_call", CALLS),
    5: ("tool_call_result", RESULTS | {11: ("context", _CONTEXT)}),
    6: ("server_event", _texts("payload")),
    7: ("server_message_data", TEXT),
    8: ("citations", _each(None)),
    9: ("system_query", {1: ("auto_code_diff", _texts("query")), 2: ("context", _CONTEXT)}),
    10: ("update_todos", {}),
    11: ("task_id", TEXT),
    13: ("request_id", TEXT),
    14: ("timestamp", _TIME),
    15: ("agent_reasoning", {1: ("reasoning", TEXT), 2: ("finished_duration", _TIME)}),
    16: (
        "summarization",
        {
            1: ("conversation_summary", {1: ("summary", TEXT), 2: ("token_count", NUMBER)}),
            2: ("finished_duration", _TIME),
        },
    ),
    19: (
        "web_search",
        {
            1: (
                "status",
                {
                    1: ("searching", _texts("query")),
                    2: ("success", {1: ("query", TEXT), 2: ("pages", _each(_PAGES))}),
                    3: ("error", {}),
                },
            )
        },
    ),
    20: (
        "web_fetch",
        {
            1: (
                "status",
                {
                    1: ("fetching", {1: ("urls", _each(TEXT))}),
                    2: ("success", {1: ("pages", _each(_PAGES))}),
                    3: ("error", {}),
                },
            )
        },
    ),
    23: ("invoke_skill", {1: ("skill", None), 2: ("user_query", _QUERY)}),
    25: ("model_used", _texts("model_id", "model_display_name")),
}

TASK: Schema = {
    1: ("id", TEXT),
    2: ("description", TEXT),
    3: ("dependencies", _texts("parent_task_id")),
    5: ("messages", _each(BYTES)),
    6: ("summary", TEXT),
    8: ("server_data", TEXT),
}

TOOL_KINDS: dict[str, ToolKind] = {
    "run_shell_command": "shell",
    "write_to_long_running_shell_command": "shell",
    "read_shell_command_output": "shell",
    "read_files": "read",
    "read_documents": "read",
    "read_skill": "read",
    "apply_file_diffs": "edit",
    "edit_documents": "edit",
    "create_documents": "write",
    "search_codebase": "search",
    "grep": "search",
    "file_glob": "search",
    "file_glob_v2": "search",
    "web_search": "web",
    "web_fetch": "web",
    "subagent": "agent",
    "start_agent": "agent",
    "suggest_plan": "plan",
    "call_mcp_tool": "mcp",
    "read_mcp_resource": "mcp",
}
