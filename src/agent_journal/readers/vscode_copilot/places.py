"""Places as the editor writes them: URIs as text or taken apart, and stretches of files."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

_FILE = "file"


def path_of(place: Any) -> str | None:
    """The path of a file's URI, or any other URI as text; None if it is neither."""
    if isinstance(place, str):
        return _path_of_text(place)
    if not isinstance(place, dict):
        return None
    uri = place.get("uri")  # of a stretch of a file
    if isinstance(uri, str):
        return _path_of_text(uri)
    return _path_of_components(uri if isinstance(uri, dict) else place)


def _path_of_components(uri: dict[str, Any]) -> str | None:
    scheme, path, authority = (_text(uri, name) for name in ("scheme", "path", "authority"))
    if scheme is None or path is None:
        return None
    if scheme == _FILE:
        return _text(uri, "fsPath") or _of_this_system(path, authority or "")
    query = _text(uri, "query")
    return _text(uri, "external") or f"{scheme}://{authority or ''}{path}{'?' + query if query else ''}"


def _path_of_text(uri: str) -> str | None:
    scheme, found, rest = uri.partition("://")
    if not found or not scheme.replace("-", "").replace("+", "").replace(".", "").isalnum():
        return None
    if scheme != _FILE:
        return uri
    authority, slash, path = rest.partition("/")
    return _of_this_system(unquote(slash + path, errors="replace"), unquote(authority, errors="replace"))


def _of_this_system(path: str, authority: str) -> str:
    """As the editor shows it: `/c:/x` is drive C of Windows, and an authority is a machine in the network."""
    if authority:
        return f"//{authority}{path}"
    if path[2:3] == ":" and path[1:2].isalpha():
        return path[1:].replace("/", "\\")
    return path


def remote_path_of(uri: str) -> str | None:
    """The path alone, also of a folder on another machine (`vscode-remote://ssh-remote+host/home/ana`)."""
    path = _path_of_text(uri)
    if path is None or not path.startswith("vscode-remote://"):
        return path
    _, slash, rest = path.removeprefix("vscode-remote://").partition("/")
    return unquote(slash + rest, errors="replace") or None


def name_of(path: str) -> str:
    """The last step of a path or URI."""
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2]


def lines_of(place: Any) -> tuple[int | None, int | None]:
    """First and last line of a stretch; the editor counts from one."""
    stretch = place.get("range") if isinstance(place, dict) else None
    if not isinstance(stretch, dict):
        return None, None
    first, last = stretch.get("startLineNumber"), stretch.get("endLineNumber")
    return (first if first.__class__ is int else None, last if last.__class__ is int else None)


def _text(values: dict[str, Any], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None
