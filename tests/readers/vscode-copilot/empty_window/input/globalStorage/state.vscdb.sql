CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('chat.ChatSessionStore.index', '{"version": 1, "entries": {"66ff7700-8811-4922-8333-445566778899": {"sessionId": "66ff7700-8811-4922-8333-445566778899", "title": "A greeting", "lastMessageDate": 1771000002000, "isEmpty": false}}}');
