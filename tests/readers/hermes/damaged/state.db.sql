CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL);
INSERT INTO messages VALUES(1,'lone','user',CAST(x'b0' AS TEXT),NULL,'[{"id":',NULL,1780000000);
INSERT INTO messages VALUES(2,'lone','assistant','[{"cut',NULL,'[1]',NULL,1e300);
INSERT INTO messages VALUES(3,NULL,'user','no session',NULL,NULL,NULL,1);
INSERT INTO messages VALUES(4,'lone','','no role',NULL,NULL,NULL,NULL);
