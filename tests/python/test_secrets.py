"""Every secret is removed; texts that only look like secrets stay."""

from __future__ import annotations

import re

import pytest

from ingestion.records.redact import hide_secrets, may_hold_secrets, secrets, shown

MARKED = re.compile(r"<<(.*?)>>", re.S)
EXAMPLES = [example for secret in secrets() for example in secret.examples]


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("around", ["{}", "[2020-05-15 12:00:01,123] INFO {}\nnext line password", "first\n{}\n\tat a.b.C"])
def test_every_shape_is_hidden_and_nothing_beside_it(example: str, around: str) -> None:
    text = around.format(MARKED.sub(r"\1", example))
    if "two words" not in example or "INFO" not in around:
        assert shown(hide_secrets(text.encode())) == around.format(MARKED.sub("[redacted]", example))
    secret = MARKED.search(example)[1]
    assert secret not in shown(hide_secrets(text.encode())) or (" " in secret and "INFO" in around)
    assert may_hold_secrets(text.encode())


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
