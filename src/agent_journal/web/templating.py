"""Templates of the page. Every value passes through the one escaping function before it is inserted.

Jinja's own escaping would not show the characters that hide or reorder text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import markupsafe
from jinja2 import Environment, PackageLoader, StrictUndefined

from agent_journal.rendering import markup

if TYPE_CHECKING:
    from collections.abc import Mapping


class Templates:
    """The templates of this package."""

    def __init__(self, shared: Mapping[str, object]) -> None:
        self._environment = Environment(
            loader=PackageLoader("agent_journal.web"),
            autoescape=True,
            auto_reload=False,
            finalize=escape,
            keep_trailing_newline=False,
            lstrip_blocks=True,
            trim_blocks=True,
            undefined=StrictUndefined,
        )
        self._environment.globals.update(shared)

    def render(self, name: str, values: Mapping[str, object]) -> str:
        """A page or a part of one."""
        return self._environment.get_template(name).render(values)


def escape(value: object) -> markupsafe.Markup:
    """A value as markup: as it is if the renderer or a template made it, else escaped."""
    if type(value) is markupsafe.Markup:
        return value
    if type(value) is markup.Markup:
        return markupsafe.Markup(value)  # noqa: S704 (made by the escaping function)
    return markupsafe.Markup("" if value is None else markup.text(str(value)))  # noqa: S704
