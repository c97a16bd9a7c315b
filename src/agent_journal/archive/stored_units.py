"""Find files that a manifest does not know among the other sources in the vault.

A later revision of a reader may ask for companions that its earlier ones did not know, such as the files of
a session's subagents. Nothing about them is in the unit's manifest, but most of them were imported as
sources of their own.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_journal.archive.manifest import Manifest
from agent_journal.archive.recording import ReplayedSource
from agent_journal.archive.salvage import PatchedVault

if TYPE_CHECKING:
    from agent_journal.archive.store import Store
    from agent_journal.archive.vault import Vault
    from agent_journal.inputs.input import Input


class StoredUnits:
    """Every source in the vault, by its path."""

    def __init__(self, store: Store, vault: Vault) -> None:
        self._store = store
        self._vault = vault
        self.has_gaps = False
        """Whether something was asked for that the vault may not have, but the disk."""

    def find(self, path: str) -> Input | None:
        """Return the newest snapshot of a file."""
        row = self._store.source(path)
        snapshots = [] if row is None else self._store.snapshots(row.key)
        if not snapshots:
            self.has_gaps = True
            return None
        snapshot = snapshots[-1]
        return self._replayed(snapshot.manifest, path, snapshot.unit)

    def children(self, folder: str) -> list[Input]:
        """Return the files and folders below a folder that were imported."""
        self.has_gaps = True  # there may be files that no reader asked for
        start = folder + os.sep
        below = [path[len(start) :] for path in self._store.source_paths_below(start)]
        is_folder_by_name = {name: bool(rest) for name, rest in map(_split_first_step, below)}
        children = [
            self._folder(start + name, name) if is_folder else self.find(start + name)
            for name, is_folder in is_folder_by_name.items()
        ]
        return [child for child in children if child is not None]

    def _folder(self, path: str, name: str) -> Input:
        return self._replayed(Manifest(is_folder=True, name=name, label=path), path, name)

    def _replayed(self, manifest: Manifest, path: str, unit: str) -> Input:
        return ReplayedSource(manifest, PatchedVault(self._vault, manifest), path, unit, others=self)


def _split_first_step(path: str) -> tuple[str, str]:
    name, _, rest = path.partition(os.sep)
    return name, rest
