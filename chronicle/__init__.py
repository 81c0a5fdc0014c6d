"""The command line tool: a folder per command, on top of the data that `ingestion` reads."""
