CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, slug TEXT, user_initiated BOOLEAN, created_at DATETIME, updated_at DATETIME, cwd TEXT, archived BOOLEAN, parent_conversation_id TEXT, model TEXT);
CREATE TABLE messages (message_id TEXT PRIMARY KEY, conversation_id TEXT, sequence_id INTEGER, type TEXT, llm_data TEXT, user_data TEXT, usage_data TEXT, display_data TEXT, created_at DATETIME, generation INTEGER);
INSERT INTO conversations (conversation_id) VALUES('d');
INSERT INTO messages (message_id,conversation_id,sequence_id,type,llm_data) VALUES('1','d',1,'user','{"Role":0,"Con');
INSERT INTO messages (message_id,conversation_id,sequence_id,type,llm_data) VALUES('2','d',2,'user',CAST(x'7b22436f6e74656e74223a5b7b2254797065223a322c2254657874223a22b0227d5d7d' AS TEXT));
