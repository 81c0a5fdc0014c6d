"""Which files there are, what each of them is, who it belongs to, and what of it is new."""
