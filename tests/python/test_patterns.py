"""Patterns in the syntax of log4j and logback, and the records read with them."""

from __future__ import annotations

import pytest

from ingestion.records.patterns import Cut, compile_pattern

NOON = 1_589_544_001_123  # 2020-05-15 12:00:01,123


@pytest.mark.parametrize(
    ("pattern", "line", "cut"),
    [
        ("[%d] %p %m (%c)%n", "[2020-05-15 12:00:01,123] INFO started (kafka.A)", Cut(NOON, False, "INFO", "kafka.A", None, "started")),
        ("[%d] %p %m (%c)%n", "[2020-05-15 12:00:01,123] WARN values: ", Cut(NOON, False, "WARN", None, None, "values: ")),
        (
            "%d{dd MMM yyyy HH:mm:ss,SSS} %-5p [%t] (%c.%M:%L)  - %m%n",
            "15 May 2020 12:00:01,123 INFO  [main] (a.b.C.run:12)  - hello (world)",
            Cut(NOON, False, "INFO", "a.b.C", "main", "hello (world)"),
        ),
        (
            "%d{ISO8601} %-5p [%t] %c{1}: %m%n",
            "2020-05-15T12:00:01.123 DEBUG [a [b]] C: x: y".replace("T", " "),
            Cut(NOON, False, "DEBUG", "C", "a [b]", "x: y"),
        ),
        (
            "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %5p %pid --- [%15.15t] %-40.40logger{39} : %m%n%wEx",
            "2020-05-15T14:00:01.123+02:00  INFO 7 --- [           main] o.a.k.c.c.Consumer                       : joined",
            Cut(NOON, True, "INFO", "o.a.k.c.c.Consumer", "main", "joined"),
        ),
        (
            "%clr(%d{yyyy-MM-dd HH:mm:ss.SSS}){faint} %highlight{%-5level} %msg%n",
            "2020-05-15 12:00:01.123 ERROR boom",
            Cut(NOON, False, "ERROR", None, None, "boom"),
        ),
        ("%d{UNIX_MILLIS} %p %c - %m%n", f"{NOON} INFO a.B - x", Cut(NOON, True, "INFO", "a.B", None, "x")),
        ("%d{yyyy/MM/dd hh:mm:ss a} %p %m%n", "2020/05/15 12:00:01 PM INFO x", Cut(NOON - 123, False, "INFO", None, None, "x", 1000)),
        ("%r %d{HH:mm:ss.SSS} %p %m%n", "17 12:00:01.123 INFO x", Cut(None, False, "INFO", None, None, "x")),
    ],
)
def test_a_line_is_cut_as_the_pattern_says(pattern: str, line: str, cut: Cut) -> None:
    assert compile_pattern(pattern).cut(line) == cut


@pytest.mark.parametrize("line", ["\tat a.b.C(C.java:1)", "Caused by: x", "", "15 May 2020"])
def test_other_lines_continue_the_record(line: str) -> None:
    assert compile_pattern("[%d] %p %m (%c)%n").cut(line) is None


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("%p %m%n", "has no time; write %d"),
        ("%d %p%n", "has no message; write %m"),
        ("%d %Q %m", "'%Q %m' in the pattern '%d %Q %m' is not understood"),
        ("%d{yyyy-ww} %m", "'ww' in the date 'yyyy-ww' is not understood"),
        ("%d{yyyy %m", "a bracket is not closed"),
    ],
)
def test_a_wrong_pattern_is_told_with_what_to_write(pattern: str, says: str) -> None:
    with pytest.raises(ValueError) as error:
        compile_pattern(pattern)
    assert says in str(error.value)
