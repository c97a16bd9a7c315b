CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('chat.ChatSessionStore.index', '{"version": 1, "entries": {"ee77ff88-0099-4baa-8bbb-ccddeeff0011": {"title": "In a zip", "sessionId": "ee77ff88-0099-4baa-8bbb-ccddeeff0011"}}}');
