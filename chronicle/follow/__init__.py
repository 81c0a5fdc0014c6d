"""`chronicle follow`: one process that stays, and what other commands ask of it."""
