"""Where bytes come from: files, folders, zips, compressed files, SQLite databases, standard input."""
