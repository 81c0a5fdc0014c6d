"""Questions to the tables: `chronicle sql`, `ask`, `check` and `evidence`."""
