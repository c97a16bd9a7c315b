CREATE TABLE workspaces (id TEXT PRIMARY KEY, scope_key TEXT, canonical_path TEXT, git_root TEXT, display_name TEXT, last_seen_at TEXT);
CREATE TABLE sessions (id TEXT PRIMARY KEY, workspace_id TEXT, title TEXT, recap_text TEXT, model TEXT, mode TEXT, cwd_at_start TEXT, cwd_last TEXT, status TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE messages (session_id TEXT, seq INTEGER, role TEXT, message_json TEXT, created_at TEXT, PRIMARY KEY (session_id, seq));
CREATE TABLE usage_events (id INTEGER PRIMARY KEY, session_id TEXT, message_seq INTEGER, source TEXT, model TEXT, input_tokens INTEGER, output_tokens INTEGER, total_tokens INTEGER, cost_micros INTEGER, created_at TEXT);
CREATE TABLE compactions (id INTEGER PRIMARY KEY, session_id TEXT, first_kept_seq INTEGER, summary TEXT, tokens_before INTEGER, created_at TEXT);
INSERT INTO sessions VALUES('g3',NULL,'','','grok-5',NULL,NULL,NULL,NULL,1780000000,1780000001);
INSERT INTO messages VALUES('g3',0,'assistant','plain text',1780000000);
INSERT INTO messages VALUES('g3',1,'assistant','[{"type": "text", "text": "a list"}]',1780000000);
INSERT INTO sessions VALUES(NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
