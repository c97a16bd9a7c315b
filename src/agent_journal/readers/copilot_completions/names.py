"""The names of fields in completion events and in reports about them."""

from __future__ import annotations

SOURCE = "copilot-completions"
PLATFORM = "github_copilot"
# Telemetry names no model; this is the model of completions.
MODEL = "copilot-codex"

TIME = ("timestamp", "time", "createdAt", "created_at")
FILE = ("file", "filePath", "file_path", "fileName", "file_name")
PROMPT = ("promptContext", "prompt_context", "prompt")
COMPLETION = ("completion", "completionText", "completion_text")
LANGUAGE = ("language", "languageId", "language_id")
EXTENSION = ("extensionVersion", "extension_version", "pluginVersion", "plugin_version")
EDITOR = ("editor", "ide", "editorName", "editor_name")
ACCOUNT = ("user", "userLogin", "user_login")
TYPE = ("type", "event", "eventType", "event_type", "eventName", "event_name")

DAYS, USERS, LINKS = "day_totals", "user_totals", "download_links"
EVENTS = "events"
TEXT = ("text", "content")
