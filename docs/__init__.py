"""Scripts that keep the documentation true: answers of queries, pictures."""
