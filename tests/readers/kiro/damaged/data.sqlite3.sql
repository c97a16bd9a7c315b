CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO conversations_v2 VALUES('/home/ana/a','a','{"conversation_id":"a","hist',1,2);
INSERT INTO conversations_v2 VALUES('/home/ana/b','b','[1]',1,2);
INSERT INTO conversations_v2 VALUES('/home/ana/c','c',CAST(x'7b22686973746f7279223a5b5d2c2278223a22b0227d' AS TEXT),1,2);
INSERT INTO conversations_v2 VALUES('/home/ana/d','d','',1,2);
