"""Records, captures and samples as rows, and their commit to the tables of bronze."""
