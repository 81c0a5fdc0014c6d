"""Finds files, and tells what each of them is, which node it belongs to, and what of it is new."""
