"""What the writers of documents for people share. Nothing in here is a writer."""
