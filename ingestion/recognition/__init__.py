"""The catalogue of messages, compiled, and the recognition of a record by it."""
