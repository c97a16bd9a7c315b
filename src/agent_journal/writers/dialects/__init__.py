"""Forms that several targets share. Nothing in here is a writer."""
