"""The paths and names that modules had until version 0.1, for plugins. Version 0.3 will remove them.

An old path imports the same module object as the new one, so that classes are identical and tests can patch
it; and it issues a warning.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import ModuleType

PACKAGE = "agent_journal"
PATHS = {
    "amounts": "text.humanize",
    "blocks": "model.content_blocks",
    "by_meaning": "journal.semantic",
    "canonical": "records.canonical_json",
    "closing": "inputs.closeable",
    "counts": "model.token_sanity",
    "database": "inputs.sqlite_copy",
    "demo": "journal.demo",
    "embedding": "journal.embeddings",
    "encoding": "decoding.text_encoding",
    "exporting": "journal.export",
    "fields": "decoding.fields",
    "forks": "model.branches",
    "health": "journal.doctor",
    "homes": "discovery",
    "homes.refused": "discovery.excluded",
    "ids": "model.ids",
    "indexing": "journal.index_upkeep",
    "inflating": "inputs.compressed",
    "jsonstream": "decoding.json_stream",
    "jsontext": "decoding.json_text",
    "jsonvalue": "decoding.json_value",
    "jsonwindow": "decoding.json_window",
    "output": "conversion.output",
    "peek": "detection.peek",
    "pipeline": "conversion.pipeline",
    "readers._api_calls": "readers.dialects.api_calls",
    "readers._blocks_anthropic": "readers.dialects.anthropic_blocks",
    "readers._blocks_converse": "readers.dialects.converse_blocks",
    "readers._chat_templates": "readers.dialects.chat_templates",
    "readers._contents_google": "readers.dialects.google_contents",
    "readers._copilot_events": "readers.dialects.copilot_events",
    "readers._copilot_events.attached": "readers.dialects.copilot_events.attachments",
    "readers._injected": "readers.dialects.injected_text",
    "readers._items_openai": "readers.dialects.openai_items",
    "readers._members": "readers.dialects.members",
    "readers._messages_openai": "readers.dialects.openai_messages",
    "readers._parts_google": "readers.dialects.google_parts",
    "readers._printed": "readers.dialects.program_output",
    "readers._prompts": "readers.dialects.prompt_history",
    "readers._sse": "readers.dialects.sse",
    "readers._stream_anthropic": "readers.dialects.anthropic_stream",
    "readers._stream_converse": "readers.dialects.converse_stream",
    "readers._stream_google": "readers.dialects.google_stream",
    "readers._stream_ollama": "readers.dialects.ollama_stream",
    "readers._stream_openai": "readers.dialects.openai_stream",
    "readers._stream_responses": "readers.dialects.responses_stream",
    "readers._twins": "readers.dialects.duplicate_records",
    "readers._written": "readers.dialects.text_files",
    "redact": "redaction",
    "redact.attached": "redaction.attachments",
    "redact.named": "redaction.assignments",
    "redact.placed": "redaction.contexts",
    "redact.wrapped": "redaction.base64_secrets",
    "roles": "model.roles",
    "searching": "journal.search",
    "signing": "records.signing",
    "source": "inputs.input",
    "spill": "decoding.spill",
    "survey": "journal.inventory",
    "tables": "decoding.csv_tables",
    "telling": "text.describe",
    "times": "model.timestamps",
    "tomltext": "decoding.toml_text",
    "transforms": "conversion.transforms",
    "tree": "model.tree",
    "validate": "validation.unified",
    "visible": "text.sanitize",
    "watching": "journal.watch",
    "yamltext": "decoding.yaml_text",
    "zipped": "inputs.zip_files",
}
"""Old and new paths, both within the package; modules below a path moved with it."""
NAMES = {
    "decoding.fields": {"words": "nonempty_str"},
    "decoding.fields.Fields": {"look": "view", "moment": "timestamp"},
    "inputs.input": {"Source": "Input", "open_source": "open_input"},
    "model.timestamps": {"is_moment": "is_timestamp", "moment": "parse_timestamp"},
}
"""Old and new names of each module or class, by its path within the package."""


def new_path(name: str) -> str | None:
    """The full name of the module that used to have this one; None if it is not an old path."""
    package, _, path = name.partition(".")
    steps = path.split(".") if package == PACKAGE else []
    for count in range(len(steps), 0, -1):
        if new := PATHS.get(".".join(steps[:count])):
            return ".".join([PACKAGE, new, *steps[count:]])
    return None


def spec_of(name: str) -> ModuleSpec | None:
    """The import specification of an old path; None if it is not an old path."""
    new = new_path(name)
    return None if new is None else ModuleSpec(name, _Loader(new))


def renamed(owner: object, path: str, name: str) -> Any:
    """The attribute that used to have this name, with a warning. Raises AttributeError if there was none."""
    new = NAMES[path].get(name)
    if new is None:
        raise AttributeError(f"{PACKAGE}.{path} has no attribute {name!r}")
    text = f"{PACKAGE}.{path}.{name} is now {new}; Agent Journal 0.3 will remove the old name"
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    return getattr(owner, new)


class _Loader(Loader):
    """Loads a module by its new path, unless it is loaded already."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._own_spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of the new path, not a second one from the same file."""
        module = import_module(self._name)
        self._own_spec = module.__spec__
        text = f"{spec.name} is now {self._name}; Agent Journal 0.3 will remove the old path"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return module

    def exec_module(self, module: Any) -> None:
        """Restore the specification of the new path; the module was executed before."""
        module.__spec__ = self._own_spec
