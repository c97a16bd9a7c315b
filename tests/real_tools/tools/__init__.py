"""One module per tool; each has a `TOOL`."""

from __future__ import annotations

import importlib
import pkgutil

from tests.real_tools.tool import Tool


def _tools() -> dict[str, Tool]:
    modules = (importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__))
    tools: list[Tool] = [module.TOOL for module in modules]
    return {tool.name: tool for tool in tools}


TOOLS = _tools()
