"""The tables and their migrations. `docs/schema.md` describes their content and useful queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agent_journal.archive.rows import HASH_BYTES, number_of
from agent_journal.model.token_sanity import COUNTS, MAX_COST_USD, MAX_TOKENS

if TYPE_CHECKING:
    import apsw

# Sizes of prompts, in tokens, above which some vendor has another price (as of November 2026).
PRICE_TIER_TOKENS = (32_000, 100_000, 128_000, 199_999, 200_000, 256_000, 272_000, 512_000, 524_288)
_SOUND = " AND ".join(f"coalesce({name}, 0) BETWEEN 0 AND {MAX_TOKENS}" for name in COUNTS)
_ABOVE = " ".join(f"WHEN prompt > {size} THEN {size}" for size in reversed(PRICE_TIER_TOKENS))
_SUMMED = (
    "input",
    "output",
    "cache_read",
    "written",
    "cache_write_5m",
    "cache_write_1h",
    "reasoning",
    "other",
)

# Usage summed up by conversation, quarter of an hour, model, and everything else that prices depend on.
SUMS = f"""
    SELECT conversation, (at_ms - (at_ms < 0) * 899999) / 900000 AS slot, model,
      CASE {_ABOVE} ELSE 0 END AS above, estimated, state, cost_usd IS NOT NULL AS is_stated, count(*),
      {", ".join(f"coalesce(sum({name}) FILTER (WHERE is_summed), 0)" for name in _SUMMED)},
      sum(cost_usd) FILTER (WHERE is_summed)
    FROM (SELECT *, state IN ('counted', 'partly') AS is_summed FROM (
      SELECT *,
        max(coalesce(cache_write, 0), coalesce(cache_write_5m, 0) + coalesce(cache_write_1h, 0)) AS written,
        coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) AS prompt,
        CASE WHEN coalesce(input, output, cache_read, cache_write) IS NULL THEN total END AS other,
        CASE WHEN NOT ({_SOUND} AND coalesce(cost_usd, 0) BETWEEN 0 AND {MAX_COST_USD}) THEN 'odd'
          WHEN coalesce({", ".join(COUNTS)}, cost_usd) IS NULL THEN iif(refused, 'odd', 'empty')
          ELSE iif(refused, 'partly', 'counted') END AS state
      FROM usage WHERE {{}}
    ))
    GROUP BY 1, 2, 3, 4, 5, 6, 7
"""

# Each runs once, in order, in one transaction; user_version is the number of those that have run.
MIGRATIONS = (
    """
    CREATE TABLE journal (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

    CREATE TABLE conversations (
      key INTEGER PRIMARY KEY,
      source TEXT NOT NULL,
      id TEXT NOT NULL,
      title TEXT,
      title_key INTEGER,
      summary TEXT,
      project TEXT,
      git_branch TEXT,
      model TEXT,
      app_version TEXT,
      account_id TEXT,
      started_at TEXT,
      updated_at TEXT,
      started_ms INTEGER,
      updated_ms INTEGER,
      messages INTEGER NOT NULL,
      events INTEGER NOT NULL,
      shape TEXT NOT NULL,
      head_id TEXT,
      parent_id TEXT,
      relation TEXT,
      twin_of INTEGER,
      archived INTEGER,
      opening BLOB,
      reader TEXT,
      version TEXT,
      revision INTEGER,
      hash BLOB NOT NULL,
      detail BLOB NOT NULL,
      UNIQUE (source, id)
    );
    CREATE INDEX conversations_by_time ON conversations (updated_ms);
    CREATE INDEX conversations_by_parent ON conversations (source, parent_id) WHERE parent_id IS NOT NULL;
    CREATE INDEX conversations_by_opening ON conversations (opening) WHERE opening IS NOT NULL;
    CREATE INDEX conversations_by_twin ON conversations (twin_of) WHERE twin_of IS NOT NULL;

    CREATE TABLE timeline (
      key INTEGER PRIMARY KEY,
      conversation INTEGER NOT NULL,
      position INTEGER NOT NULL,
      earlier INTEGER NOT NULL DEFAULT 0,
      id TEXT NOT NULL,
      parent_id TEXT,
      role TEXT,
      name TEXT,
      at TEXT,
      model TEXT,
      text TEXT,
      hash BLOB NOT NULL,
      copy_hash INTEGER,
      copy_of INTEGER,
      block INTEGER NOT NULL,
      start INTEGER NOT NULL,
      size INTEGER NOT NULL
    );
    CREATE INDEX timeline_in_order ON timeline (conversation, position);
    CREATE INDEX timeline_by_copy ON timeline (copy_hash) WHERE copy_hash IS NOT NULL;
    CREATE INDEX timeline_copies ON timeline (copy_of) WHERE copy_of IS NOT NULL;
    CREATE INDEX timeline_by_block ON timeline (block);

    CREATE TABLE blocks (key INTEGER PRIMARY KEY, data BLOB NOT NULL);

    CREATE TABLE tool_calls (
      conversation INTEGER NOT NULL,
      message INTEGER NOT NULL,
      slot INTEGER NOT NULL,
      call_id TEXT,
      name TEXT NOT NULL,
      kind TEXT,
      at TEXT,
      is_error INTEGER,
      answered_by INTEGER,
      PRIMARY KEY (conversation, message, slot)
    ) WITHOUT ROWID;

    CREATE TABLE usage (
      source TEXT NOT NULL,
      key TEXT NOT NULL,
      conversation INTEGER NOT NULL,
      message INTEGER NOT NULL,
      at TEXT,
      model TEXT,
      input INTEGER,
      output INTEGER,
      cache_read INTEGER,
      cache_write INTEGER,
      cache_write_5m INTEGER,
      cache_write_1h INTEGER,
      reasoning INTEGER,
      total INTEGER,
      cost_usd REAL,
      estimated INTEGER NOT NULL,
      PRIMARY KEY (source, key)
    ) WITHOUT ROWID;
    CREATE INDEX usage_by_conversation ON usage (conversation);

    CREATE TABLE memories (
      key INTEGER PRIMARY KEY,
      source TEXT NOT NULL,
      id TEXT NOT NULL,
      kind TEXT NOT NULL,
      about TEXT,
      at TEXT,
      text TEXT NOT NULL,
      hash BLOB NOT NULL,
      body BLOB NOT NULL,
      UNIQUE (source, id)
    );

    CREATE TABLE sources (
      key INTEGER PRIMARY KEY,
      path TEXT NOT NULL UNIQUE,
      home TEXT NOT NULL,
      stat BLOB NOT NULL,
      beside BLOB,
      reader TEXT NOT NULL,
      status TEXT NOT NULL,
      size INTEGER NOT NULL,
      imported INTEGER NOT NULL,
      defects INTEGER NOT NULL,
      conversations INTEGER NOT NULL,
      messages INTEGER NOT NULL,
      notes TEXT NOT NULL,
      read_at TEXT NOT NULL,
      missing_since TEXT
    );
    CREATE TABLE contents (
      source INTEGER NOT NULL,
      conversation INTEGER NOT NULL,
      PRIMARY KEY (conversation, source)
    ) WITHOUT ROWID;
    CREATE INDEX contents_by_source ON contents (source);
    CREATE TABLE snapshots (
      source INTEGER NOT NULL,
      unit TEXT NOT NULL,
      number INTEGER NOT NULL,
      reader TEXT NOT NULL,
      version TEXT NOT NULL,
      revision INTEGER NOT NULL,
      taken_at TEXT NOT NULL,
      manifest BLOB NOT NULL,
      PRIMARY KEY (source, unit, number)
    ) WITHOUT ROWID;
    CREATE INDEX snapshots_by_reader ON snapshots (reader, revision);
    CREATE TABLE blobs (
      hash BLOB PRIMARY KEY,
      pack INTEGER NOT NULL,
      start INTEGER NOT NULL,
      stored INTEGER NOT NULL,
      size INTEGER NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE tombstones (id_hash BLOB PRIMARY KEY, forgotten_at TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE removed (key INTEGER PRIMARY KEY);

    CREATE VIEW messages AS
      SELECT t.key, c.source, c.id AS conversation, c.project, c.title, t.position, t.id, t.parent_id, t.role,
        t.at, t.model, t.text, t.earlier, t.copy_of
      FROM timeline t JOIN conversations c ON c.key = t.conversation
      WHERE t.role IS NOT NULL;
    CREATE VIEW events AS
      SELECT t.key, c.source, c.id AS conversation, t.position, t.id, t.parent_id, t.name, t.at
      FROM timeline t JOIN conversations c ON c.key = t.conversation
      WHERE t.role IS NULL;
    """,
    # Which source gave each entry, and which of its files contains each conversation. For conversations from
    # several sources this is unknown, so nothing of them is ever removed.
    """
    ALTER TABLE timeline ADD COLUMN given_by INTEGER;
    ALTER TABLE memories ADD COLUMN given_by INTEGER;
    CREATE TABLE also_given (
      key INTEGER NOT NULL,
      source INTEGER NOT NULL,
      PRIMARY KEY (key, source)
    ) WITHOUT ROWID;
    UPDATE timeline SET given_by = (SELECT source FROM contents WHERE conversation = timeline.conversation)
    WHERE conversation IN (SELECT conversation FROM contents GROUP BY conversation HAVING count(*) = 1);

    ALTER TABLE contents RENAME TO contents_before;
    DROP INDEX contents_by_source;
    CREATE TABLE contents (
      source INTEGER NOT NULL,
      conversation INTEGER NOT NULL,
      unit TEXT NOT NULL,
      PRIMARY KEY (conversation, source, unit)
    ) WITHOUT ROWID;
    CREATE INDEX contents_by_source ON contents (source);
    INSERT INTO contents SELECT source, conversation, '' FROM contents_before;
    DROP TABLE contents_before;
    """,
    """
    ALTER TABLE usage ADD COLUMN at_ms INTEGER;
    ALTER TABLE usage ADD COLUMN counted_ms INTEGER;
    UPDATE usage SET at_ms = CAST(round(unixepoch(at, 'subsec') * 1000) AS INTEGER);
    UPDATE usage SET counted_ms = at_ms;
    DROP INDEX usage_by_conversation;
    CREATE INDEX usage_by_message ON usage (conversation, message);
    CREATE TABLE usage_sums (
      conversation INTEGER NOT NULL,
      slot INTEGER,
      model TEXT,
      above INTEGER NOT NULL,
      estimated INTEGER NOT NULL,
      state TEXT NOT NULL,
      is_stated INTEGER NOT NULL,
      answers INTEGER NOT NULL,
      input INTEGER NOT NULL,
      output INTEGER NOT NULL,
      cache_read INTEGER NOT NULL,
      cache_write INTEGER NOT NULL,
      cache_write_5m INTEGER NOT NULL,
      cache_write_1h INTEGER NOT NULL,
      reasoning INTEGER NOT NULL,
      other INTEGER NOT NULL,
      cost_usd REAL
    );
    CREATE INDEX usage_sums_by_conversation ON usage_sums (conversation);
    """,
    f"""
    ALTER TABLE usage ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
    DELETE FROM usage_sums;
    INSERT INTO usage_sums {SUMS.format("1")};
    """,
    # Names of usage were texts, larger than the usage itself; hashes were longer than needed to distinguish
    # versions of one entry.
    f"""
    ALTER TABLE usage RENAME TO usage_before;
    CREATE TABLE usage (
      name INTEGER NOT NULL UNIQUE,
      conversation INTEGER NOT NULL,
      message INTEGER NOT NULL,
      model TEXT,
      input INTEGER,
      output INTEGER,
      cache_read INTEGER,
      cache_write INTEGER,
      cache_write_5m INTEGER,
      cache_write_1h INTEGER,
      reasoning INTEGER,
      total INTEGER,
      cost_usd REAL,
      estimated INTEGER NOT NULL,
      at_ms INTEGER,
      counted_ms INTEGER,
      refused INTEGER NOT NULL
    );
    INSERT INTO usage
      SELECT usage_name(source, key), conversation, message, model, input, output, cache_read, cache_write,
        cache_write_5m, cache_write_1h, reasoning, total, cost_usd, estimated, at_ms, counted_ms, refused
      FROM usage_before ORDER BY conversation, message;
    DROP TABLE usage_before;
    CREATE INDEX usage_by_message ON usage (conversation, message);
    UPDATE timeline SET hash = substr(hash, 1, {HASH_BYTES}) WHERE length(hash) > {HASH_BYTES};
    UPDATE conversations SET hash = substr(hash, 1, {HASH_BYTES}) WHERE length(hash) > {HASH_BYTES};
    UPDATE memories SET hash = substr(hash, 1, {HASH_BYTES}) WHERE length(hash) > {HASH_BYTES};
    """,
    # A list of prompts represents conversations of which nothing else is known. Its other prompts are in
    # their conversations already, which `answered` records by the hash of the prompt.
    """
    ALTER TABLE conversations ADD COLUMN only_prompts INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE contents ADD COLUMN only_prompts INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX conversations_within ON conversations (source, only_prompts, updated_ms, started_ms);
    CREATE TABLE answered (
      prompt BLOB PRIMARY KEY,
      conversation INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX answered_in ON answered (conversation);
    """,
    # Equal texts at about the same time were sufficient for a duplicate. Existing duplicates are reassessed
    # when the journal is opened.
    """
    ALTER TABLE conversations ADD COLUMN made_id INTEGER NOT NULL DEFAULT 0;
    DROP INDEX conversations_by_opening;
    CREATE INDEX conversations_by_opening ON conversations (opening, made_id, source)
      WHERE opening IS NOT NULL;
    INSERT INTO journal SELECT 'unresolved_duplicates', 1 WHERE EXISTS (SELECT 1 FROM conversations);
    """,
    # A reader may serve several products.
    """
    ALTER TABLE conversations ADD COLUMN product TEXT;
    """,
)
VERSION = len(MIGRATIONS)


def usage_name(source: str, key: str) -> int:
    """Return the name in the usage table of what a source counts once under a key."""
    return number_of(f"{source}\0{key}")


def migrate(connection: apsw.Connection, version: int) -> None:
    """Migrate the tables of a version (0: none) to this version."""
    connection.create_scalar_function("usage_name", cast("Any", usage_name), 2, deterministic=True)
    for statements in MIGRATIONS[version:]:
        connection.execute(statements)
