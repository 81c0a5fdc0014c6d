"""A JVM of our own for pyspark, started without spark-submit.

Relies on: the class `PythonGatewayServer`, which listens, writes its port and secret into the file that _PYSPARK_DRIVER_CONN_INFO_PATH
names (two big-endian ints, port and length, then the secret), and ends when its standard input does; `launch_gateway`, which connects to
PYSPARK_GATEWAY_PORT; `SparkContext._ensure_initialized`, which takes a gateway; and the packages that Spark's launcher opens on
Java 17 and 21 (`JavaModuleOptions`).  Read in: PySpark 4.2.0.
Breaks: no session starts, or Java refuses an access in the middle of a query.
Brings: the class path, heap and options of the JVM are ours, among them the archive of classes, and Ctrl-C is ours to handle;
spark-submit would start a JVM first that only prints the command line of the second.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from chronicle.spark.internals import spark_home

MAIN = "org.apache.spark.api.python.PythonGatewayServer"

# Without the vector module, which nothing here uses and of which the JVM warns on standard error.
OPENED = (
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
)
JVM_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-Djava.net.preferIPv4Stack=true",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
)


def environment(answer: Path) -> dict[str, str]:
    """The environment of a JVM that writes into `answer` how it can be reached."""
    return {
        # The C library would keep freed memory apart for each thread.
        "MALLOC_ARENA_MAX": "2",
        **os.environ,
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(answer),
        "SPARK_HOME": str(spark_home.home()),
        "SPARK_CONNECT_MODE": "0",
    }


def is_given() -> bool:
    """Whether this process was started by spark-submit, whose Java waits for it."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def address(answer: bytes) -> tuple[int, str]:
    """Port and secret, from what the JVM has written."""
    (port, length), secret = struct.unpack("!ii", answer[:8]), answer[8:]
    return port, secret[:length].decode()


def connect(port: int, secret: str) -> None:
    """Hand the JVM to pyspark, which takes it for one that spark-submit has started."""
    from pyspark.core.context import SparkContext
    from pyspark.java_gateway import launch_gateway

    os.environ["PYSPARK_GATEWAY_PORT"] = str(port)
    os.environ["PYSPARK_GATEWAY_SECRET"] = secret
    try:
        SparkContext._ensure_initialized(gateway=launch_gateway())  # type: ignore[no-untyped-call]
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
