"""`aj config`: what is settled, by whom, and settling it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agent_journal import config, files
from agent_journal.decoding import toml_text
from agent_journal.errors import BadConfig
from agent_journal.terminal import say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agent_journal.config import Config

_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_SETTINGS, no_args_is_help=False)
def command() -> None:
    """Show what is settled and where each value came from, or settle something.

    A flag goes before an environment variable, a variable before config.toml in the journal's home, and
    that before the default.
    """


@command.command("show", context_settings=_SETTINGS)
@click.argument("key", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def show_values(key: str | None, *, as_json: bool) -> None:
    """Show every key, or one, with its value and where that came from."""
    if key is not None and not config.is_key(key):
        raise click.UsageError(config.unknown_key(key))
    settled = config.load(config.home_of(os.environ), os.environ)
    for row in [_row(settled, key)] if key else rows(settled):
        if as_json:
            show_json(row)
        else:
            _print(row, in_full=key is not None)


@command.command("set", context_settings=_SETTINGS)
@click.argument("key")
@click.argument("values", metavar="VALUE...", nargs=-1, required=True)
def set_value(key: str, values: tuple[str, ...]) -> None:
    """Settle a key in config.toml, and leave all else in it as it is.

    Lists of paths and globs take several values; a source takes false to be left out.
    """
    try:
        value = config.written(key, values)
    except BadConfig as error:
        raise click.UsageError(error.reason) from error
    _rewrite(key, partial(toml_text.changed, key=key, value=value))


@command.command("unset", context_settings=_SETTINGS)
@click.argument("key")
def unset_value(key: str) -> None:
    """Take a key out of config.toml, and leave all else in it as it is."""
    if not config.is_key(key):
        raise click.UsageError(config.unknown_key(key))
    _rewrite(key, partial(toml_text.without, key=key))


def _rewrite(key: str, edit: Callable[[str], str | None]) -> None:
    """Edit config.toml for a key, and tell what holds for it then."""
    home = config.home_of(os.environ)
    path = home / config.FILE_NAME
    before = config.read_file(path) or ""
    toml_text.load(before, str(path))
    text = edit(before)
    if text is None:
        table = key.rpartition(".")[0]
        raise BadConfig(
            str(path), f"[{table}] is written so that only a person can edit it; see to {key} there"
        )
    if text or before:
        config.parse(text, str(path), os.environ)
        files.make_folder(str(home))
        files.write_bytes(os.path.realpath(path), text.encode())  # a link to a folder of settings stays one
    settled = config.load(home, os.environ)
    _print(_row(settled, key), in_full=True)
    if settled.origin(key).kind == "environment":
        say(f"aj config: {settled.origin(key)} is set and goes before {path}")


def rows(settled: Config) -> Iterator[dict[str, Any]]:
    """Every key as data."""
    prices = (key for key in settled.origins if config.is_price(key))
    for key in (*config.keys(), *config.source_keys(), *prices):
        yield _row(settled, key)


def _row(settled: Config, key: str) -> dict[str, Any]:
    origin = settled.origin(key)
    return {
        "key": key,
        "value": _value(settled, key),
        "from": origin.kind,
        "where": str(origin) if origin.name else None,
        "variables": list(config.variables(key)),
        "expected": config.expected(key),
    }


def _value(settled: Config, key: str) -> Any:
    value = settled.value(key)
    if config.is_price(key):
        price: dict[str, float | None] = msgspec.to_builtins(value) if value else {}
        return {name: dollars for name, dollars in price.items() if dollars is not None}
    if value is None:  # a source: where it usually lies
        from agent_journal.discovery import homes_of  # noqa: PLC0415 (only where needed)

        return [home.text for home in homes_of(settled, config.source_info(key))]
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
