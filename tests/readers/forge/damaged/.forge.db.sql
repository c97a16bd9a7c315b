CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, title TEXT, workspace_id BIGINT NOT NULL, context TEXT, created_at TIMESTAMP NOT NULL, updated_at TIMESTAMP, metrics TEXT);
INSERT INTO conversations VALUES('a',NULL,1,'{"messages":[{"te','x',NULL,'{');
INSERT INTO conversations VALUES('b',NULL,1,'[1]','y',NULL,NULL);
INSERT INTO conversations VALUES('c',NULL,1,CAST(x'7b226d65737361676573223a5b7b2274657874223a7b22726f6c65223a2255736572222c22636f6e74656e74223a22b0227d7d5d7d' AS TEXT),'z',NULL,NULL);
