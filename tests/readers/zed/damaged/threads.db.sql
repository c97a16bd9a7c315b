CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL, data_type TEXT NOT NULL, data BLOB NOT NULL, parent_id TEXT, folder_paths TEXT, folder_paths_order TEXT, created_at TEXT);
INSERT INTO threads VALUES('t-1','A thread','2026-08-01','zstd',x'28b52ffd60ba005d0800f28f3121406bf4bc7065b4555ab037adc247524c3305a7332a41b2af6fd3',NULL,NULL,NULL,NULL);
INSERT INTO threads VALUES('t-2','A thread','2026-08-02','zstd',x'28b52ffd00',NULL,NULL,NULL,NULL);
INSERT INTO threads VALUES('t-3','A thread','2026-08-03','json','{"version":"0.3.0","title":"Cut","messages":[{"User":{"id":"u","content":[{"Text":"He',NULL,NULL,NULL,NULL);
INSERT INTO threads VALUES('t-4','A thread','2026-08-04','zstd',x'',NULL,NULL,NULL,NULL);
INSERT INTO threads VALUES('t-5','A thread','2026-08-05','json','[1]',NULL,NULL,NULL,NULL);
INSERT INTO threads VALUES('t-6','A thread','2026-08-06','json','{"title":"Empty"}',NULL,NULL,NULL,NULL);
INSERT INTO threads VALUES('t-7','A thread','2026-08-07','json',CAST(x'7b227469746c65223a22b0227d' AS TEXT),NULL,NULL,NULL,NULL);
