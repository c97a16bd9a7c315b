CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, slug TEXT, user_initiated BOOLEAN, created_at DATETIME, updated_at DATETIME, cwd TEXT, archived BOOLEAN, parent_conversation_id TEXT, model TEXT);
CREATE TABLE messages (message_id TEXT PRIMARY KEY, conversation_id TEXT, sequence_id INTEGER, type TEXT, llm_data TEXT, user_data TEXT, usage_data TEXT, display_data TEXT, created_at DATETIME, generation INTEGER);
INSERT INTO conversations (conversation_id,created_at) VALUES('u','noon');
INSERT INTO messages (message_id,conversation_id,sequence_id,type,llm_data) VALUES('1','u',1,'ghost','{"Role": 1, "Content": [{"Type": 99, "Text": "x"}, 5, {"Type": 2}]}');
INSERT INTO messages (message_id,conversation_id,sequence_id,type,llm_data,usage_data) VALUES(NULL,'u',2,'agent','{"Content": "none"}','[1]');
INSERT INTO messages (message_id,conversation_id,sequence_id,type,llm_data) VALUES('1b','u',3,'user','[1]');
