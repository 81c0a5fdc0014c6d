"""`chronicle serve`, `health` and `password`: SQL for BI tools."""
