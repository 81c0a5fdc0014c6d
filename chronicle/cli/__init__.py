"""The command line: it parses arguments and calls."""
