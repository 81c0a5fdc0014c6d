"""The list of log statements made from Kafka's sources: loggers, prefixes, texts that are put together elsewhere, releases."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from chronicle.catalogue.statements import Source, rows, under_their_loggers
from chronicle.cli.main import execute

SCALA = """package kafka.server

object Pump { val name = "pump" }
/* info("never printed") */
class Pump(brokerId: Int, topicPartition: TopicPartition) extends AbstractPump with Logging {
  this.logIdent = s"[Pump $brokerId]: "
  def run(): Unit = {
    info(s"Pumping $topicPartition " + // to the last
      s"with ${plan.mkString("(", ",", ")")}")
    val msg = s"Pump of $brokerId is dry"
    error(msg, e)
  }
}

abstract class AbstractPump extends Machine {
  def stop(): Unit = warn("Stopped")
}
"""
JAVA = """package org.apache.kafka.clients;

public class Requests {
    private static final Logger LOG = LoggerFactory.getLogger("kafka.requests");
    private final LogContext context = new LogContext("[Requests id=" + id + "] ");

    void send(String name, int epoch) {
        String message;
        switch (error) {
            case FENCED:
                message = String.format("%s failed because epoch %s is fenced.", name, epoch);
                logInfo(message, response);
                break;
            default:
                message = "Something else";
                logInfo("Not known", response);
        }
    }

    private void logInfo(final String message, Response response) {
        LOG.info("{} in {}ms", message, backoffMs);
    }
}
"""


def listed(text: str, path: str) -> list[tuple[str, str, str, str]]:
    """(loggers, level, types, expression) of each statement."""
    return [(one.loggers, one.level, one.types, one.argument) for one in Source(text, path).statements()]


def test_scala() -> None:
    assert listed(SCALA, "core/src/main/scala/kafka/server/Pump.scala") == [
        (
            "kafka.server.Pump",
            "INFO",
            "topicPartition:TopicPartition",
            's"Pumping $topicPartition " + s"with ${plan.mkString("(", ",", ")")}"',
        ),
        ("kafka.server.Pump", "ERROR", "brokerId:Int", 's"Pump of $brokerId is dry", e'),
        ("kafka.server.AbstractPump", "WARN", "", '"Stopped"'),
        ("kafka.server.Pump", "PREFIX", "brokerId:Int", 's"[Pump $brokerId]: "'),
    ]


def test_java_where_the_caller_puts_the_text_together() -> None:
    assert listed(JAVA, "clients/src/main/java/org/apache/kafka/clients/Requests.java") == [
        (
            "kafka.requests",
            "INFO",
            "epoch:int name:String",
            '"{} in {}ms", String.format("%s failed because epoch %s is fenced.", name, epoch), backoffMs',
        ),
        ("kafka.requests", "INFO", "", '"{} in {}ms", "Not known", backoffMs'),
        ("kafka.requests", "PREFIX", "", '"[Requests id=" + id + "] "'),
    ]


def test_an_abstract_class_prints_under_the_names_of_its_heirs() -> None:
    source = Source(SCALA, "core/src/main/scala/kafka/server/Pump.scala")
    found = {one.argument: one.loggers for one in under_their_loggers(source.statements(), source.extended())}
    assert found['"Stopped"'] == "kafka.server.Pump"
    assert found['s"Pump of $brokerId is dry", e'] == "kafka.server.Pump"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with three releases; the statement goes in the third."""

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org", *words], check=True, capture_output=True
        )

    place = tmp_path / "core/src/main/scala/kafka/Pump.scala"
    place.parent.mkdir(parents=True)
    git("init", "--quiet")
    for release, text in (("2.8.0", "Running dry"), ("2.8.1", "Running dry"), ("3.0.0", "Running well")):
        place.write_text(f'package kafka\nclass Pump extends Logging {{\n  warn("{text}")\n}}\n// {release}\n')
        git("add", ".")
        git("commit", "--quiet", "-m", release)
        git("tag", release)
    return tmp_path


def test_a_clone_becomes_a_list(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["catalogue", "statements", str(clone), "2.8.0", "2.8.1", "3.0.0"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "source_unit\treceiver\tlevel\treleases\tloggers\ttypes\tstatement_argument",
        'kafka.Pump\t\tWARN\t2.8.0..2.8.1\tkafka.Pump\t\t"Running dry"',
        'kafka.Pump\t\tWARN\t3.0.0\tkafka.Pump\t\t"Running well"',
    ]


def test_a_release_that_is_not_there_is_one_clear_line(clone: Path) -> None:
    with pytest.raises(ValueError, match=r"git ls-tree -r 9\.9: .*9\.9"):
        list(rows(clone, ["9.9"]))
