"""The entry point of the image: the programs that it starts for our commands and for those of Spark on Kubernetes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from chronicle.project import PROJECT

# Prints its name and its arguments, a line each.
SHOW = '#!/bin/sh\nbasename "$0"\nprintf "%s\\n" "$@"\n'
EXECUTOR = {
    "SPARK_JAVA_OPT_0": "-Dspark.driver.port=7078",
    "SPARK_JAVA_OPT_1": "-Dsaid=two words",
    "SPARK_JAVA_OPT_10": "-Dlast=1",
    "SPARK_EXECUTOR_MEMORY": "1024m",
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@10.0.0.7:7078",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "2",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.8",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "chronicle-exec-3",
}


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder of programs that print their arguments."""
    for name, text in (("java", SHOW), ("chronicle", SHOW), ("spark-submit", SHOW), ("python", "#!/bin/sh\necho /spark/jars\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


def started(programs: Path, *arguments: str, **variables: str) -> list[str]:
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", **variables}
    command = ["sh", str(PROJECT / "deploy/container/entrypoint"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


def test_a_command_is_a_command(programs: Path) -> None:
    assert started(programs, "sql", "select 1") == ["chronicle", "sql", "select 1"]


def test_an_executor_has_all_that_spark_says(programs: Path) -> None:
    said = started(programs, "executor", **EXECUTOR)
    assert said[:7] == ["java", "-Dspark.driver.port=7078", "-Dsaid=two words", "-Dlast=1", "-Xmx1024m", "-cp", "/spark/jars/*"]
    assert said[7] == "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend"
    given = dict(zip(said[8::2], said[9::2], strict=True))
    assert given == {
        "--driver-url": EXECUTOR["SPARK_DRIVER_URL"],
        "--executor-id": "3",
        "--cores": "2",
        "--app-id": "spark-1",
        "--hostname": "10.0.0.8",
        "--resourceProfileId": "0",
        "--podName": "chronicle-exec-3",
    }


def test_a_driver_is_submitted_on_its_own_address(programs: Path) -> None:
    said = started(programs, "driver", "--class", "org.apache.spark.deploy.PythonRunner", SPARK_DRIVER_BIND_ADDRESS="10.0.0.7")
    assert said[:3] == ["spark-submit", "--conf", "spark.driver.bindAddress=10.0.0.7"]
    assert said[-2:] == ["--class", "org.apache.spark.deploy.PythonRunner"]
