"""Which files there are, what each of them is, whose it is, and what of it is new."""
