"""`aj config`: show and change settings."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agent_journal import config, files
from agent_journal.cli._home import home as journal_home
from agent_journal.decoding import toml_text
from agent_journal.errors import BadConfig
from agent_journal.terminal import say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.config import Config

_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_SETTINGS, no_args_is_help=False)
def command() -> None:
    """Show or change settings.

    A command-line option overrides an environment variable, which overrides config.toml in the journal's
    folder, which overrides the default.
    """


@command.command("show", context_settings=_SETTINGS)
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per setting.")
def show_values(key: str | None, *, as_json: bool) -> None:
    """Show all settings, or one, and where each value comes from."""
    if key is not None and not config.is_key(key):
        raise click.UsageError(config.unknown_key(key))
    settings = config.load(journal_home(), os.environ)
    for row in [_row(settings, key)] if key else rows(settings):
        if as_json:
            show_json(row)
        else:
            _print(row, in_full=key is not None)


@command.command("set", context_settings=_SETTINGS)
@click.argument("key")
@click.argument("values", metavar="VALUE...", nargs=-1, required=True)
def set_value(key: str, values: tuple[str, ...]) -> None:
    """Set a key in config.toml; everything else in the file stays as it is.

    Keys that take lists of paths or globs take several values. To skip a source, set it to false.
    """
    try:
        value = config.file_value(key, values)
    except BadConfig as error:
        raise click.UsageError(error.reason) from error
    _rewrite(key, partial(toml_text.changed, key=key, value=value))


@command.command("unset", context_settings=_SETTINGS)
@click.argument("key")
def unset_value(key: str) -> None:
    """Remove a key from config.toml; everything else in the file stays as it is."""
    if not config.is_key(key):
        raise click.UsageError(config.unknown_key(key))
    _rewrite(key, partial(toml_text.without, key=key))


def _rewrite(key: str, edit: Callable[[str], str | None]) -> None:
    """Edit a key in config.toml, and show its value afterwards."""
    home = journal_home()
    path = home / config.FILE_NAME
    before = config.read_file(path) or ""
    toml_text.load(before, str(path))
    text = edit(before)
    if text is None:
        table = key.rpartition(".")[0]
        raise BadConfig(
            str(path),
            f"[{table}] is written in a form that aj cannot edit; change {key} in the file yourself",
        )
    if text or before:
        config.parse(text, str(path), os.environ)
        files.make_folder(str(home))
        files.write_bytes(os.path.realpath(path), text.encode())  # if it is a symbolic link, it stays one
    settings = config.load(home, os.environ)
    _print(_row(settings, key), in_full=True)
    if settings.origin(key).kind == "environment":
        say(f"aj config: The environment variable {settings.origin(key)} is set and overrides {path}.")


def rows(settings: Config) -> Iterator[dict[str, Any]]:
    """Every key as data."""
    prices = (key for key in settings.origins if config.is_price(key))
    for key in (*config.keys(), *config.source_keys(), *prices):
        yield _row(settings, key)


def _row(settings: Config, key: str) -> dict[str, Any]:
    origin = settings.origin(key)
    return {
        "key": key,
        "value": _value(settings, key),
        "from": origin.kind,
        "where": str(origin) if origin.name else None,
        "variables": list(config.variables(key)),
        "expected": config.expected(key),
    }


def _value(settings: Config, key: str) -> Any:
    value = settings.value(key)
    if config.is_price(key):
        price: dict[str, float | None] = msgspec.to_builtins(value) if value else {}
        return {name: dollars for name, dollars in price.items() if dollars is not None}
    if value is None:  # a source: its default locations
        from agent_journal.discovery import homes_of  # noqa: PLC0415 (only where needed)

        return [home.text for home in homes_of(settings, config.source_info(key))]
    if value == () and config.is_source(key):
        return False
    return str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value


def _print(row: dict[str, Any], *, in_full: bool) -> None:
    value = row["value"]
    origin = row["where"] or row["from"]
    if isinstance(value, list) and len(value) > 1 and row["from"] == "default" and not in_full:
        shown = f"{toml_text.shown(value[0])} and {len(value) - 1} more"
    else:
        shown = toml_text.shown(value)
    show(("strong", row["key"]), f" = {shown}", ("dim", f"  # {origin}"))
