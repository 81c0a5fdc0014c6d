"""Metrics as their exporters and stores print them."""
