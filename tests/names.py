"""Nasty names (`fixtures/names/names.yml`), and logs that contain them in Kafka's own wordings."""

from __future__ import annotations

import os
from pathlib import Path

import yaml

from ingestion.recognition.forms import ELLIPSIS, MARK, Form
from ingestion.recognition.recognise import catalogue

FIXTURE = Path(__file__).parent / "fixtures/names/names.yml"
NAMES: dict[str, str] = {
    one["id"]: one["text"] * one.get("times", 1) for one in yaml.load(FIXTURE.read_text(encoding="ascii"), yaml.CSafeLoader)
}
# Where Kafka logs a name: (event, field) of a wording that contains it.
HELD = {
    "group": ("group_stabilised", "group_id"),
    "member": ("member_failed", "member_id"),
    "client": ("member_left", "client_id"),
    "host": ("connection_failed", "client_address"),
    "topic": ("leader_and_isr_received", "topic"),
}
DAY = "2026-06-01"
HEAD = "[{day} {hour:02}:{minute:02}:{second:02},000] INFO {text} ({logger})\n"
STARTED = "[KafkaServer id=1] started", "kafka.server.KafkaServer"


def form_of(event: str, field: str) -> Form:
    """The last wording of an event that has the field with some text after it, because blanks at the end of a record are dropped."""
    forms = [form for form in catalogue().forms if form.event == event and form.loggers]
    return [form for form in forms if field in form.expected and not form.text.endswith(f"<<{field}={form.expected[field]}>>")][-1]


def wording(held: str, name: str) -> tuple[str, str]:
    """(body, logger) of a record with a name in it, the rest of it as in the catalogue."""
    event, field = HELD[held]
    form = form_of(event, field)
    return MARK.sub(lambda mark: name if mark[1] == field else mark[2], form.text).replace(ELLIPSIS, ""), form.loggers[0]


def line(number: int, text: str, logger: str, day: str = DAY) -> str:
    """A record at this second of a day."""
    hour, rest = divmod(number, 3600)
    return HEAD.format(day=day, hour=hour, minute=rest // 60, second=rest % 60, text=text, logger=logger)


def log(held: str, day: str = DAY) -> str:
    """A log with a record for each name, each followed by a record without names."""
    texts = [wording(held, name.replace(DAY, day)) for name in NAMES.values()]
    return "".join(line(2 * n, *text, day) + line(2 * n + 1, *STARTED, day) for n, text in enumerate(texts))


def as_read(name: str) -> str:
    """A name as ingestion returns it: text has no NUL."""
    return name.replace("\0", "?")


def as_folders() -> dict[str, str]:
    """The names that a folder can have."""
    return {
        key: name for key, name in NAMES.items() if name not in ("", ".", "..") and not {"/", "\0"} & set(name) and len(name.encode()) < 256
    }


def write(folder: Path, day: str = DAY) -> Path:
    """`<cluster>/1/*.log`: all names in the logs of a cluster `names`, and a small cluster for each name that a folder can have."""
    for cluster in ("names", *as_folders().values()):
        node = folder / cluster / "1"
        node.mkdir(parents=True)
        logs = {held: log(held, day) for held in HELD} if cluster == "names" else {"server": line(0, *STARTED, day)}
        for name, text in logs.items():
            (node / f"{name}.log").write_text(text, encoding="utf-8", newline="")
            os.utime(node / f"{name}.log", (1_600_000_000, 1_600_000_000))
    return folder
