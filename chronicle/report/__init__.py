"""`chronicle report`: one self-contained page."""
