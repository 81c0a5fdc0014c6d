"""Bytes to records: envelopes, wrappers, patterns of log4j, secrets."""
