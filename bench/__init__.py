"""Measurements of the whole pipeline, and the logs of fleets that they run on; nothing of the product imports it."""
