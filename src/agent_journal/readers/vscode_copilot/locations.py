"""Locations as the editor writes them: URIs as strings or components, and ranges of files."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

_FILE = "file"


def path_of(location: Any) -> str | None:
    """Return the path of a file URI, or any other URI as a string; None if it is neither."""
    if isinstance(location, str):
        return _path_of_text(location)
    if not isinstance(location, dict):
        return None
    uri = location.get("uri")  # of a range of a file
    if isinstance(uri, str):
        return _path_of_text(uri)
    return _path_of_components(uri if isinstance(uri, dict) else location)


def _path_of_components(uri: dict[str, Any]) -> str | None:
    scheme, path, authority = (_text(uri, name) for name in ("scheme", "path", "authority"))
    if scheme is None or path is None:
        return None
    if scheme == _FILE:
        return _text(uri, "fsPath") or _displayed_path(path, authority or "")
    query = _text(uri, "query")
    return _text(uri, "external") or f"{scheme}://{authority or ''}{path}{'?' + query if query else ''}"


def _path_of_text(uri: str) -> str | None:
    scheme, separator, rest = uri.partition("://")
    if not separator or not scheme.replace("-", "").replace("+", "").replace(".", "").isalnum():
        return None
    if scheme != _FILE:
        return uri
    authority, slash, path = rest.partition("/")
    return _displayed_path(unquote(slash + path, errors="replace"), unquote(authority, errors="replace"))


def _displayed_path(path: str, authority: str) -> str:
    """Return a path as the editor shows it: `/c:/x` is drive C of Windows, an authority is a network host."""
    if authority:
        return f"//{authority}{path}"
    if path[2:3] == ":" and path[1:2].isalpha():
        return path[1:].replace("/", "\\")
    return path


def remote_path_of(uri: str) -> str | None:
    """Return only the path, also of a folder on a remote machine (`vscode-remote://ssh-remote+host/home/ana`)."""
    path = _path_of_text(uri)
    if path is None or not path.startswith("vscode-remote://"):
        return path
    _, slash, rest = path.removeprefix("vscode-remote://").partition("/")
    return unquote(slash + rest, errors="replace") or None


def last_component(path: str) -> str:
    """Return the last component of a path or URI."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def lines_of(location: Any) -> tuple[int | None, int | None]:
    """Return the first and last line of a range; the editor counts from one."""
    span = location.get("range") if isinstance(location, dict) else None
    if not isinstance(span, dict):
        return None, None
    first, last = span.get("startLineNumber"), span.get("endLineNumber")
    return (first if first.__class__ is int else None, last if last.__class__ is int else None)


def _text(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None
