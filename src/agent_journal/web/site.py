"""What all views share: the journal, the URLs, the templates, and the names of sources."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from agent_journal import readers
from agent_journal.text.humanize import count, dollars, duration, size
from agent_journal.web.addresses import Urls
from agent_journal.web.templating import Templates
from agent_journal.web.times import Clock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.config import Config
    from agent_journal.web.journal_access import JournalAccess

_HUE_COUNT = 8


class Site:
    """What the views of one server share."""

    def __init__(self, journal: JournalAccess, config: Config, prefix: str) -> None:
        self.journal = journal
        self.config = config
        self.urls = Urls(prefix)
        self.clock = Clock()
        self.source_titles = {name: module.INFO.title for name, module in readers.discover().items()}
        self._templates = Templates(
            {
                "urls": self.urls,
                "count": count,
                "size": size,
                "duration": duration,
                "dollars": dollars,
                "source_title": self.source_title,
                "hue": hue,
                "clock": self.clock,
                "project_name": project_name,
                "short_path": short_path,
            }
        )

    def source_title(self, source: str) -> str:
        """The name people know a source by."""
        return self.source_titles.get(source, source)

    def page(
        self, template: str, values: Mapping[str, object], *, title: str, status: int = 200
    ) -> HTMLResponse:
        """A page, or a part of one that a script inserts."""
        shared = {"title": title, "query": "", "list_values": None, "hits_pane": None}
        return HTMLResponse(self._templates.render(template, {**shared, **values}), status)

    def part(self, template: str, values: Mapping[str, object]) -> str:
        """Part of a page as text."""
        return self._templates.render(template, values)


def hue(name: str) -> int:
    """The number of the color that marks a source; equal names have equal colors."""
    return zlib.crc32(name.encode("utf-8", "replace")) % _HUE_COUNT


def project_name(project: str | None) -> str:
    """The last folder of a project's path, by which people know it."""
    return (project or "").replace("\\", "/").rstrip("/").rpartition("/")[2] or (project or "")


def short_path(path: str, folder: str | None) -> str:
    """A path relative to a folder, if it is below that."""
    return path.removeprefix(f"{folder.rstrip('/')}/") if folder else path
