"""What we use of Spark, Delta and Hive that they do not document, one module for each thing.

Each module says what it relies on, the release in which that was read, what breaks when it changes, and what it brings.  No other
module touches such parts; `tests/python/test_internals.py` checks that.  Each has a canary test, in `tests/spark/test_internals.py` where it
needs a session, that says what broke and where it is used.  `docs/upgrading.md` is the way through an upgrade.

Our classes for the JVM are internal as a whole: those of builds (`chronicle/spark/jvm`) and of the server (`chronicle/serve/jvm`) lie in packages
below Spark's, extend classes of Spark and Hive, and name plans and expressions of Spark and Delta.  They are compiled against the jars of the
installed Spark, so most changes fail there (`chronicle/spark/own_classes.py`); canaries find the rest, `tests/serve` checks whether the rules still hold.
"""
