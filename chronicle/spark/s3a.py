"""Hadoop's S3A, through which Spark's executors read and write a warehouse in a bucket (`s3://bucket/path`, for Spark `s3a://bucket/path`).

Endpoint and region come from the variables that the other libraries read, fsspec's and delta-rs.  Credentials are not among the settings: Spark
itself takes AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN from the driver's environment and hands them to its executors with each
job (https://spark.apache.org/docs/latest/cloud-integration.html#authenticating), so they are in no file and on no command line; without them S3A asks
where Amazon's SDK does: a profile, a web identity, the machine's role.

Delta commits through S3SingleDriverLogStore, its default for `s3a://`: it looks whether a commit exists, then puts it, which is safe as long as one
driver writes to a table (https://docs.delta.io/delta-storage/#amazon-s3).  One does: the holder of the warehouse's lease (`ingestion/lease.py`).
What delta-rs commits, under the same lease, it puts only if it does not exist.  For this, `fs.s3a.create.performance` stays off: it leaves out the look.
"""

from __future__ import annotations

import os

from chronicle.spark import jars
from ingestion.warehouse import ENDPOINTS

SCHEMES = ("s3://", "s3a://")
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
# Spark's keys, with and without a session's token, and then the places of Amazon's SDK: S3A's own default knows no profile and no web identity.
PROVIDERS = (
    "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
    "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
    "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
)


def is_s3(root: str) -> bool:
    """Whether a warehouse is in a bucket of S3."""
    return root.startswith(SCHEMES)


def uri(root: str) -> str:
    """A warehouse, or a table in it, as Spark names it."""
    return f"s3a://{root.removeprefix('s3://')}" if root.startswith("s3://") else root


def settings(root: str) -> dict[str, str]:
    """Spark's settings for a warehouse in a bucket of S3; none for any other."""
    if not is_s3(root):
        return {}
    known = {"aws.credentials.provider": ",".join(PROVIDERS)}
    if endpoint := _first(*ENDPOINTS):
        # Servers other than Amazon's have no host for each bucket.
        known |= {"endpoint": endpoint, "path.style.access": "true"}
        known["connection.ssl.enabled"] = "false" if endpoint.startswith("http://") else "true"
    if region := _first(*REGIONS):
        known["endpoint.region"] = region
    return {f"spark.hadoop.fs.s3a.{name}": value for name, value in known.items()}


def class_path(root: str) -> list[str]:
    """The jars that read and write a warehouse, where they have been fetched; an ingestion does without.  `must_be_there` asks for them."""
    return jars.class_path(wanted=jars.of_s3()) if is_s3(root) and not jars.missing(jars.folder(), jars.of_s3()) else []


def must_be_there(root: str) -> None:
    """Raises jars.NoJars where Spark is to read a bucket and cannot; an installation fetches the jars first."""
    if is_s3(root):
        jars.class_path(wanted=jars.of_s3())


def _first(*names: str) -> str:
    return next((os.environ[name] for name in names if os.environ.get(name)), "")
