"""`chronicle follow`: one process that stays, ingests what is appended and builds what it feeds."""
