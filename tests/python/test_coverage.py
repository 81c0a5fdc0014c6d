"""Statements of the sources become lines, and lines that no form matches are reported as uncovered."""

from __future__ import annotations

from pathlib import Path

import pytest

from chronicle.catalogue.coverage import Coverage, Hole, Statement, minors_of, pieces, read_statements, report, sample_texts
from chronicle.cli.main import execute
from ingestion.recognition.recognise import catalogue

HEAD = "source_unit\treceiver\tlevel\tfirst_release\tlast_release\treleases\tstatement_argument\n"


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        # Interpolations with brackets and quotes of their own.
        ('s"Shrinking ISR ${isr.mkString("[", ",", "]")} of $topicPartition."', "Shrinking ISR [1,2] of orders-3."),
        # Each format has its own arguments; text outside of it is printed as it is.
        ('"Broker %d got it.".format(brokerId) + " Epoch is %d " + epoch', "Broker 7 got it. Epoch is %d 7"),
        ('("%d of %s" + " is %d%%") .format(count, path, size), e', "7 of /data/kafka/orders-3 is 7%"),
        ('String.format("Stopped %s", partition), e', "Stopped orders-3"),
        # slf4j; the exception is not part of the message.
        ('"{} and {} failed", topicPartition, offset, e', "orders-3 and 7 failed"),
        ('if (isNew) "Created the log" else "Found the log"', "Created the log"),
        ('"took " + (end - startMs) + "ms"', "took 7ms"),
    ],
)
def test_a_statement_becomes_a_line(argument: str, text: str) -> None:
    assert next(sample_texts(pieces(argument))) == text


def test_the_pieces_keep_their_order() -> None:
    assert pieces('"from " + first + " to {}", last') == ["from ", Hole("first"), " to ", Hole("last")]


def test_a_statement_counts_when_the_recogniser_knows_its_line() -> None:
    coverage = Coverage(catalogue())
    known = Statement("kafka.log.LogManager", "", "WARN", "2.5.0..4.3", 's"Stopping serving logs in dir $dir"')
    order = Statement(
        "kafka.server.ReplicaManager", "stateChangeLogger", "WARN", "1.0.0", '"Broker %d got nothing of the kind".format(localBrokerId)'
    )
    assert coverage.event(known) == "log_dir_failed"
    assert coverage.area(known) == "segments"
    assert coverage.loggers(order) == ["state.change.logger"]
    assert coverage.event(order) is None


def test_releases_are_counted_by_minor() -> None:
    known = ["0.10", "0.11", "1.0", "1.1", "4.4"]
    assert minors_of("0.10.2.1..1.0.2", known) == ["0.10", "0.11", "1.0"]
    assert minors_of("0.11.0.0; 4.4(ccs)", known) == ["0.11", "4.4"]


@pytest.mark.parametrize(
    ("argument", "types", "level", "logger", "outcome", "missed"),
    [
        # An object prints brackets and blanks; the form keeps them out of its fields.
        (
            's"Unloaded transaction metadata $previousTxnMetadataCacheEntry from $txnTopicPartition as part of loading metadata at epoch $coordinatorEpoch"',
            "previousTxnMetadataCacheEntry:TxnMetadataCacheEntry txnTopicPartition:Int coordinatorEpoch:Int",
            "WARN",
            "kafka.coordinator.transaction.TransactionStateManager",
            "covered",
            "",
        ),
        # A form that expects a word where the source prints any object matches none of its lines.
        (
            's"Terminating process due to signal $signal"',
            "signal:Reason",
            "INFO",
            "kafka.Kafka$",
            "uncovered",
            "Terminating process due to signal Thing(id=7, inner=Inner(names=[a, b], at=-1), text='a b') (kafka.Kafka$)",
        ),
        # A text that the caller has put together.
        (
            '"{} in {}ms: {}", String.format("%s failed for member %s because epoch %s is fenced.", heartbeatRequestName(), memberId, epoch), ms, error',
            "",
            "INFO",
            "org.apache.kafka.clients.consumer.internals.ShareHeartbeatRequestManager",
            "covered",
            "",
        ),
        # Short texts count only under their own loggers, and every class that prints them is checked.
        ('"shut down completely"', "", "INFO", "kafka.server.KafkaRequestHandlerPool", "covered", ""),
        (
            '"shut down completely"',
            "",
            "INFO",
            "kafka.server.KafkaRequestHandlerPool kafka.server.LampPool",
            "narrow",
            "shut down completely (kafka.server.LampPool)",
        ),
        # A prefix must be known as a whole.
        (
            '"[data-plane Kafka Request Handler on Controller " + brokerId + "] "',
            "brokerId:Int",
            "PREFIX",
            "kafka.server.KafkaRequestHandlerPool",
            "covered",
            "",
        ),
        ('"[Lamp " + id + "] "', "id:Int", "PREFIX", "kafka.server.LampPool", "uncovered", "[Lamp 7]  (kafka.server.LampPool)"),
    ],
)
def test_a_form_has_to_take_all_that_a_statement_prints(
    argument: str, types: str, level: str, logger: str, outcome: str, missed: str
) -> None:
    verdict = Coverage(catalogue()).verdict(Statement(logger.split()[0].rstrip("$"), "", level, "4.1.1", argument, logger, types))
    assert verdict.outcome == outcome
    assert (verdict.missed or ("",))[0] == missed


@pytest.mark.parametrize(
    ("expression", "types", "texts"),
    [
        ("port", {"port": {"int"}}, ("7",)),
        ("offset", {"offset": {"Long"}}, ("7", "-1")),
        ("txn", {"txn": {"TxnMetadata"}}, ("Thing(id=7, inner=Inner(names=[a, b], at=-1), text='a b')", "[a (id: 1 rack: null), b]")),
        ("e.getMessage", {}, ("No space left on device (28)", "java.io.IOException: Disk [sda, 5%] is 'full': no space", "null")),
        ("member.groupId", {}, ("billing", "pay [eu], v2")),
        ('isrs.mkString("[", ",", "]")', {}, ("[1,2]", "[]")),
        ('if (isNew) "Created" else "Found"', {}, ("Created", "Found")),
    ],
)
def test_what_an_expression_prints(expression: str, types: dict[str, set[str]], texts: tuple[str, ...]) -> None:
    assert Hole(expression).values(types).texts[: len(texts)] == texts


@pytest.fixture
def statements(tmp_path: Path) -> Path:
    path = tmp_path / "statements.tsv"
    path.write_text(
        HEAD
        + 'kafka.log.LogManager\t\tWARN\t2.4.0\t2.5.1\t2.4.0..2.5.1\ts"Stopping serving logs in dir $dir"\n'
        + 'kafka.log.LogManager\t\tERROR\t2.5.0\t2.5.1\t2.5.0..2.5.1\t"The moon is in the way of {}", dir, e\n'
        + 'kafka.log.LogManager\t\tINFO\t2.5.0\t2.5.1\t2.5.0..2.5.1\t"The sun is in the way"\n'
        + "kafka.log.LogManager\t\tERROR\t2.5.0\t2.5.1\t2.5.0..2.5.1\tmsg, e\n"
    )
    return path


def test_what_has_no_form_is_printed(statements: Path) -> None:
    assert list(report(catalogue(), read_statements(statements))) == [
        "release\tall\tsegments",
        "2.4\t1/1\t1/1",
        "2.5\t1/2\t1/2",
        "total\t1/2 statements",
        'uncovered: kafka.log.LogManager: ERROR: 2.5.0..2.5.1: "The moon is in the way of {}", dir, e',
    ]


def test_the_command_prints_it(statements: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["catalogue", "coverage", "--statements", str(statements), "--every-level"]) == 0
    out = capsys.readouterr().out
    assert "total\t1/3 statements" in out
    assert 'uncovered: kafka.log.LogManager: INFO: 2.5.0..2.5.1: "The sun is in the way"' in out


def test_a_missing_list_is_one_clear_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["catalogue", "coverage", "--statements", str(tmp_path / "none.tsv")]) == 1
    assert (
        capsys.readouterr().err.strip() == f"chronicle: {tmp_path}/none.tsv: no list of statements there; give its place with --statements"
    )


def test_a_list_with_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.tsv"
    path.write_text("unit\tlevel\n")
    with pytest.raises(ValueError, match=r"other\.tsv:1: the columns .*source_unit.* are missing; a list has source_unit"):
        read_statements(path)


def test_without_a_list_it_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["catalogue", "coverage"]) == 2
    assert capsys.readouterr().err.strip() == "chronicle: Missing option '--statements'. (see chronicle catalogue coverage --help)"
