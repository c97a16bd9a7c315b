"""Text, JSON, CSV, YAML and TOML from the wild, and taking values out of records."""
