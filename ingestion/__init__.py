"""Reads files into bronze, and nothing else; imports nothing from `chronicle`."""
