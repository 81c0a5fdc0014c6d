"""Every secret is removed; texts that only look like secrets stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ingestion.records.redact import hide_secrets, may_hold_secrets, secrets, shown, tools

MARKED = re.compile(r"<<(.*?)>>(?!>)", re.S)
EXAMPLES = [example for secret in (*secrets(), tools()) for example in secret.examples]
LINES = Path(__file__).parents[1] / "fixtures/secrets"


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("around", ["{}", "[2020-05-15 12:00:01,123] INFO {}\nnext line password", "first\n{}\n\tat a.b.C"])
def test_every_shape_is_hidden_and_nothing_beside_it(example: str, around: str) -> None:
    text = around.format(MARKED.sub(r"\1", example))
    if "two words" not in example or "INFO" not in around:
        assert shown(hide_secrets(text.encode())) == around.format(MARKED.sub("[redacted]", example))
    secret = MARKED.search(example)[1]
    assert secret not in shown(hide_secrets(text.encode())) or (" " in secret and "INFO" in around)
    assert may_hold_secrets(text.encode())


def lines_of(name: str) -> list[str]:
    """The lines of one side of the corpus: `hidden` marks what must not be shown, `plain` has nothing of that sort."""
    return (LINES / f"{name}.txt").read_text().splitlines()


def test_the_corpus_has_two_hundred_lines_of_both_sorts() -> None:
    assert min(len(set(lines_of("hidden"))), len(set(lines_of("plain")))) >= 200
    assert all("<<" in line for line in lines_of("hidden")) and not any("<<" in line for line in lines_of("plain"))


def test_no_secret_of_the_corpus_is_shown() -> None:
    shown_ones = {line: shown(hide_secrets(MARKED.sub(r"\1", line).encode())) for line in lines_of("hidden")}
    assert {line: text for line, text in shown_ones.items() if text != MARKED.sub("[redacted]", line)} == {}


def test_nothing_else_of_the_corpus_is_hidden() -> None:
    assert [line for line in lines_of("plain") if hide_secrets(line.encode()) != line.encode()] == []


def test_many_command_lines_in_one_line_are_looked_at_once() -> None:
    text = b"curl -s x; " * 20_000 + b"curl -u me:hunter2"
    assert shown(hide_secrets(text)).endswith("curl -u me:[redacted]")


def test_there_are_thirty_shapes() -> None:
    assert len(EXAMPLES) >= 30


@pytest.mark.parametrize(
    "text",
    [
        "\tssl.key.password = null",
        "\tssl.key.password = [hidden]",
        "\tpassword.encoder.cipher.algorithm = AES/CBC/PKCS5Padding",
        "\tpassword.encoder.iterations = 4096",
        "\tsasl.jaas.config = null",
        "\tssl.keystore.location = /a/b.jks",
        "\tssl.keystore.type = JKS",
        "[2020-05-15 12:00:01,123] INFO [SocketServer brokerId=1] Failed authentication with /10.0.0.1 (Invalid username or password)",
        "Using credential cache",
        "PLAINTEXT://host:9092,SSL://other:9093",
        "client.id=producer@host, topic=a@b",
        "[Broker id=1] Leader __consumer_offsets-3 with topic id Some(AbCdEfGhIjKlMnOpQrStUv) starts",
        "Key value pairs: token count 7",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert hide_secrets(text.encode()) == text.encode()
