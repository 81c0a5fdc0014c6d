"""Where Spark lies inside the installed package.

Relies on: `pyspark.find_spark_home._find_spark_home`, and on `bin/spark-submit` and `jars/` in the folder that it gives, with the Scala
compiler among the jars.  Read in: PySpark 4.2.0.
Breaks: nothing starts; the server's classes are not compiled; Delta's jars are not fetched.
Brings: the jars that belong to the package, also where SPARK_HOME names another Spark on purpose.
"""

from __future__ import annotations

from pathlib import Path


def home() -> Path:
    """Spark's folder: SPARK_HOME, else that of the package."""
    from pyspark.find_spark_home import _find_spark_home

    return Path(_find_spark_home())


def jars() -> Path:
    """The folder of Spark's own jars."""
    return home() / "jars"
