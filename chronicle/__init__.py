"""What people call: a folder per command, around the data that `ingestion` reads."""
