CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('composer.composerData', '{"allComposers": [{"composerId": "c0de0000-0000-4000-8000-000000000041", "name": "The port", "createdAt": 1750000000410, "createdOnBranch": "ports", "isArchived": false}], "selectedComposerIds": ["c0de0000-0000-4000-8000-000000000041"]}');
