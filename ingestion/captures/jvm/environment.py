"""How a process was started: its environment, the flags of its JVM, its command line.

Rows:

- `variable`: name, value (`env`, `export`, `/proc/PID/environ`);
- `jvm_flag`: name, value (true or false of `-XX:+` and `-XX:-`; `Xmx` with its size), origin (of `-XX:+PrintFlagsFinal`: default, ergonomic,
  command line …);
- `system_property`: name, value (`-D`);
- `jvm_argument`: argument (any other option);
- `process`: process_id, user, main_class, program (kafka, zookeeper, connect, mirror_maker), arguments (behind the class).

Forms: `env`, `jcmd PID VM.flags`, `VM.command_line`, `jinfo -flags`, `jps -lvm`, `pgrep -af`, lines of `ps` without
their header (with it they are a `process_list`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ingestion.captures import About, Line, Row, Sample
from ingestion.captures._tools import Stamp, significant, slices
from ingestion.reading import linear

ENVIRONMENT, FLAGS, PROCESSES = "environment", "jvm_flags", "kafka_processes"
KINDS = {
    ENVIRONMENT: "Environment variables of a Kafka process or its container.",
    FLAGS: "Flags or command line of a JVM, as jcmd, jinfo or -XX:+PrintFlagsFinal print them.",
    PROCESSES: "Command lines of Kafka's processes, as ps or jps print them.",
}
OF_NODE = frozenset(KINDS)

VARIABLE = re.compile(r"^(?:export |declare -x |set )?(?P<name>[A-Z_][A-Z0-9_]*)=(?P<quote>[\"']?)(?P<value>.*)(?P=quote)$")
MARK = linear.for_lines(
    r"^(?:export |declare -x |set )?(?:[A-Z_]*KAFKA[A-Z0-9_]*|JAVA_HOME|JVM_[A-Z_]+|ZOO[A-Z_]*|CONFLUENT_[A-Z_]+|STRIMZI_[A-Z_]+|CONNECT_[A-Z_]+)=",
    re.M,
)
PROGRAMS = {
    "kafka.Kafka": "kafka",
    "io.confluent.support.metrics.SupportedKafka": "kafka",
    "org.apache.zookeeper.server.quorum.QuorumPeerMain": "zookeeper",
    "org.apache.kafka.connect.cli.ConnectDistributed": "connect",
    "org.apache.kafka.connect.cli.ConnectStandalone": "connect",
    "org.apache.kafka.connect.mirror.MirrorMaker": "mirror_maker",
    "kafka.tools.MirrorMaker": "mirror_maker",
}
MAIN = re.compile(rf"(?<![\w.=/:-])(?P<main>{'|'.join(map(re.escape, PROGRAMS))})(?=\s|$)(?P<arguments>.*)")
PROCESS = re.compile(
    rf"^\s*+(?:(?P<user>[A-Za-z_][\w.+-]*)\s++)?(?P<pid>\d+)\s++(?=.*\bjava\s|(?:{'|'.join(map(re.escape, PROGRAMS))})(?:\s|$))"
)
TABLE_FLAG = linear.compile(
    r"^\s*(?:bool|intx?|uintx?|u?int64_t|size_t|ccstr(?:list)?|double)\s+(?P<name>\w+)\s+:?=\s*(?P<value>.*?)\s*\{[^}]*\}(?:\s*\{(?P<origin>[^}]*)\})?\s*$"
)
FLAG_LINE = re.compile(r"^\s*(?:(?:Non-default VM flags|Command line|VM Flags|jvm_args):\s*)?-(?:XX:|X\w|D\w|server\b|javaagent:|-add-)\S*")
COMMAND_PART = linear.for_lines(
    r"^\s*(?:VM Arguments:|jvm_args: ?(?P<args>.*)|java_command: ?(?P<command>.*)|java_class_path(?: \(initial\))?: ?(?P<path>.*)|Launcher Type: ?\S*)\s*$"
)
HEADING = linear.for_lines(
    r"^\d+:\s*$|^\s*(?:UID|USER|PID)\s+.*(?:CMD|COMMAND)\s*$|^\[Global flags\]|^(?:Attaching to process|Debugger attached|JVM version is|Server compiler|VM Flags:|VM Arguments:)"
)
PS_HEADER = linear.compile(r"^\s*(?:\w+\s+)*PID\s.*(?:CMD|COMMAND)\s*$", re.M)
XX = re.compile(r"^-XX:(?:(?P<switch>[+-])(?P<switched>\w+)|(?P<name>\w+)=(?P<value>.*))$", re.S)
SIZE = re.compile(r"^-(?P<name>X(?:mx|ms|ss|mn))(?P<value>\d+[kKmMgGtT]?)$")
PROPERTY = re.compile(r"^-D(?P<name>[^=]+)(?:=(?P<value>.*))?$", re.S)
# An option with its value, which may be quoted and hold blanks.
WITH_WORD = {"-cp", "-classpath", "--class-path", "--add-opens", "--add-exports", "--add-modules"}
WORD = re.compile(r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'])+")


def kind_of(sample: str, name: str = "") -> str | None:
    lines = [line for line in significant(sample.replace("\0", "\n")) if not HEADING.match(line)]
    if not lines:
        return None
    variables = sum(VARIABLE.match(line) is not None for line in lines)
    if 3 * variables >= 2 * len(lines) and MARK.search("\n".join(lines)):
        return ENVIRONMENT
    # Below a header of ps it is a list of processes like any other.
    if 2 * sum(is_process(line) for line in lines) >= len(lines) and not PS_HEADER.search(sample):
        return PROCESSES
    flags = sum(bool(FLAG_LINE.match(line) or TABLE_FLAG.match(line) or COMMAND_PART.match(line)) for line in lines)
    has_flags = any(
        "-XX:" in line or "-Xm" in line or TABLE_FLAG.match(line) or line.lstrip().startswith("java_command:") for line in lines
    )
    return FLAGS if flags == len(lines) and has_flags else None


def is_process(line: str) -> bool:
    return MAIN.search(line) is not None and PROCESS.match(line) is not None


def read(kind: str, lines: Iterable[Line], about: About) -> Iterator[Row | Sample]:
    stamp = Stamp(about)
    for line in (piece for whole in lines for piece in pieces(whole)):
        if not line.text.strip() or HEADING.match(line.text):
            continue
        variable = VARIABLE.match(line.text) if kind == ENVIRONMENT else None
        table = TABLE_FLAG.match(line.text) if kind == FLAGS else None
        common = stamp.common(line) if not variable and kind != PROCESSES else None
        if variable:
            yield stamp.row("variable", line, {"name": variable["name"], "value": variable["value"]})
        elif table:
            yield stamp.row("jvm_flag", line, table.groupdict())
        elif common:
            yield common
        elif kind == PROCESSES and (process := PROCESS.match(line.text)) and (main := MAIN.search(line.text)):
            yield from process_rows(line, process, main, stamp)
        elif kind == FLAGS and (COMMAND_PART.match(line.text) or FLAG_LINE.match(line.text)):
            yield from flag_rows(line, stamp)
        else:
            yield stamp.unread(line, f"no line of {kind}")


def pieces(line: Line) -> Iterator[Line]:
    """`/proc/PID/environ` separates its variables by zero bytes."""
    offset = line.offset
    for text in line.text.split("\0"):
        yield Line(offset, text)
        offset += len(text.encode()) + 1


def process_rows(line: Line, process: re.Match[str], main: re.Match[str], stamp: Stamp) -> Iterator[Row]:
    fields = {"process_id": process["pid"], "user": process["user"], "main_class": main["main"], "program": PROGRAMS[main["main"]]}
    # jps names the class first, and then all arguments and options without a mark between them.
    is_jps = main.start() <= process.end()
    arguments = [word for word in WORD.findall(main["arguments"]) if not (is_jps and word.startswith("-"))]
    yield stamp.row("process", line, fields | {"arguments": " ".join(arguments)})
    yield from options(line if is_jps else Line(line.offset, line.text[: main.start()]), stamp)


def flag_rows(line: Line, stamp: Stamp) -> Iterator[Row]:
    part = COMMAND_PART.match(line.text)
    if part and part["command"]:
        main, _, arguments = part["command"].partition(" ")
        yield stamp.row("process", line, {"main_class": main, "program": PROGRAMS.get(main), "arguments": arguments.strip()})
    elif part and part["path"]:
        yield stamp.row("system_property", line, {"name": "java.class.path", "value": part["path"]})
    else:
        yield from options(line, stamp)


def options(line: Line, stamp: Stamp) -> Iterator[Row]:
    """A row for each option of a JVM."""
    words = list(slices(line, WORD))
    for position, option in enumerate(words):
        word = option.text
        if not word.startswith("-") or word == "-":
            continue
        flag, size, named = XX.match(word), SIZE.match(word), PROPERTY.match(word)
        if flag:
            value = {"+": "true", "-": "false"}.get(flag["switch"] or "", flag["value"])
            yield stamp.row("jvm_flag", option, {"name": flag["switched"] or flag["name"], "value": value})
        elif size:
            yield stamp.row("jvm_flag", option, size.groupdict())
        elif named:
            yield stamp.row("system_property", option, named.groupdict())
        else:
            argument = " ".join(one.text for one in words[position : position + 2]) if word in WITH_WORD else word
            yield stamp.row("jvm_argument", option, {"argument": argument})
