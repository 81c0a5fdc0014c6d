"""Files to bronze, and nothing else: it imports nothing of `chronicle`."""
