"""Captures of a JVM: GC logs, thread dumps, crashes, how it was started."""
