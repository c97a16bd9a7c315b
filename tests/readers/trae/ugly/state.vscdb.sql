CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES('memento/icube-ai-agent-storage','{"list": [{"messages": [{"role": "cook", "content": 7, "timestamp": "noon"}, "cut", {"role": "assistant", "agentTaskContent": {"odd": 1}}], "createdAt": "noon"}, 5]}');
