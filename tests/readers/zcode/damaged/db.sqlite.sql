CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT, time_created INTEGER);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT, time_created INTEGER);
CREATE TABLE model_usage (id INTEGER PRIMARY KEY, session_id TEXT, turn_id TEXT, provider_id TEXT, model_id TEXT, status TEXT, input_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER, cache_creation_input_tokens INTEGER, cache_read_input_tokens INTEGER, computed_total_tokens INTEGER, started_at INTEGER, completed_at INTEGER);
CREATE TABLE tool_usage (session_id TEXT, turn_id TEXT, tool_name TEXT, started_at INTEGER);
INSERT INTO session VALUES('x',NULL,NULL,NULL,NULL,1780000000000,1780000000000);
INSERT INTO message VALUES('k','x','{"role":"us',1780000000000);
INSERT INTO part VALUES('k1','k','x','{"type":"text","te',1780000000000);
INSERT INTO part VALUES('k2','k','x',CAST(x'7b2274797065223a2274657874222c2274657874223a22b0227d' AS TEXT),1);
