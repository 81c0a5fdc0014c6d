"""The Spark session, what it runs on, and its SQL catalog."""
