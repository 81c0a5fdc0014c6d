"""`chronicle catalogue`: tools for people who add messages."""
