"""Readers of foreign bytes accept any input: texts made by hypothesis, and the fixtures with parts changed, cut and mixed.

CHRONICLE_EXAMPLES=40 tries forty times as many, other ones in each run.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS, seeds

pytestmark = pytest.mark.long

TIMES = int(os.environ.get("CHRONICLE_EXAMPLES", "1"))
QUICK = settings(
    max_examples=25 * TIMES,
    deadline=None,
    derandomize=TIMES == 1,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
HEADS = [
    "[2026-10-25 02:30:00,123] INFO ",
    "[9999-12-31 23:59:59,999] ERROR ",
    "[0000-00-00 00:00:00,000] WARN ",
    "2026-10-25 02:30:00,123 - INFO  [a:B@1] - ",
]
PIECES = st.one_of(
    st.sampled_from(
        [*HEADS, "\n", "\r\n", "\x00", "\x1b[31m", "[KafkaServer id=1] started", " (kafka.server.KafkaServer)", "\tat a.b.C(C.java:1)\n"]
    ),
    st.text(max_size=40),
)
TEXTS = st.lists(PIECES, max_size=30).map("".join).map(lambda text: text.encode("utf-8", "surrogatepass"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**400), 10**400) | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["epochSecond", "nanoOfSecond", "instant", "@timestamp", "time", "log", "stream", "level", "loggerName", "message", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
LINES = st.lists(VALUES.map(json.dumps), max_size=6).map(lambda texts: "\n".join(texts).encode())


@st.composite
def changed(draw: st.DrawFn, texts: list[bytes]) -> bytes:
    """A text with pieces of itself and of others cut out, doubled or put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.integers(0, 200)))
        middle = draw(st.one_of(st.just(b""), st.binary(max_size=20), st.just(text[begin:end] * 2), TEXTS))
        text = text[:begin] + middle + text[end:]
    return text


@pytest.mark.parametrize("name", ["records", "wrapped", "lines", "files"])
@QUICK
@given(data=TEXTS | LINES | st.binary(max_size=300))
def test_any_text(name: str, data: bytes) -> None:
    TARGETS[name](data)


@QUICK
@given(data=VALUES.map(json.dumps).map(str.encode))
def test_any_time(data: bytes) -> None:
    TARGETS["times"](data)


@pytest.mark.parametrize("name", [name for name in TARGETS if name.startswith("capture:")])
def test_any_capture(name: str) -> None:
    texts = list(seeds(name)) or [b"nothing"]

    @settings(QUICK, max_examples=12 * TIMES)
    @given(data=changed(texts) | TEXTS)
    def holds(data: bytes) -> None:
        TARGETS[name](data)

    holds()


def packed() -> list[bytes]:
    """A small archive of each kind."""
    out = []
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode=mode) as archive:
            for name in ("kafka-1/server.log", "kafka-2/ä.log"):
                info = tarfile.TarInfo(name)
                info.size = 300
                archive.addfile(info, io.BytesIO(b"x" * 300))
        out.append(file.getvalue())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("kafka-1/server.log", b"x" * 300)
    return [*out, file.getvalue(), zlib.compress(b"x")]


@settings(QUICK, max_examples=60 * TIMES)
@given(data=changed(packed()))
def test_any_archive(data: bytes) -> None:
    TARGETS["archives"](data)
