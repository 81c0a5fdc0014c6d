"""Thread dumps as JSON: `jcmd Thread.dump_to_file -format=json`, JDK 21 to 25 (source: jdk.internal.vm.ThreadDumper)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

from ingestion.captures import Line
from ingestion.captures.jvm._thread_text import Dump
from ingestion.captures.jvm._threads import LOCK, PARK, WAIT, Thread

BEGINNING = re.compile(r'\{\s*"threadDump"\s*:')
HEAD = {"pid": re.compile(r'"processId"\s*:\s*"?(\d+)'), "jvm_version": re.compile(r'"runtimeVersion"\s*:\s*"([^"]*)"')}
TIME = re.compile(r'"time"\s*:\s*"([^"]*)"')
ITEM = re.compile(
    r'"container"\s*:\s*(?P<container>"(?:[^"\\]|\\.)*")|(?P<thread>\{)\s*"(?:tid|name|stack|state|time|virtual|carrier)"\s*:'
)


def dumps_of_json(lines: list[Line]) -> Iterator[Dump | Line]:
    """Dumps of a text, thread by thread, so that a dump that is cut loses only its last thread."""
    text = "\n".join(line.text for line in lines)
    starts = [match.start() for match in BEGINNING.finditer(text)]
    if not starts:
        yield from lines
        return
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield dump_of(text[start:end], offset_of(lines, start))


def offset_of(lines: list[Line], place: int) -> int:
    """Offset in the file of a place in the joined text."""
    for line in lines:
        if place <= len(line.text):
            return line.offset + len(line.text[:place].encode())
        place -= len(line.text) + 1
    return lines[-1].offset


def dump_of(text: str, offset: int) -> Dump:
    head = text[: text.find('"threadContainers"')]
    dump = Dump(offset, [" ".join(head.split())])
    for key, pattern in HEAD.items():
        if match := pattern.search(head):
            dump.fields[key] = match[1]
    if match := TIME.search(head):
        dump.instant = match[1]
    decoder, container, read_to, bytes_to, place_to = json.JSONDecoder(strict=False), "", 0, offset, 0
    for match in ITEM.finditer(text):
        if match.start() < read_to:
            continue
        if match["container"]:
            with suppress(ValueError):
                container = decoder.decode(match["container"])
            continue
        bytes_to, place_to = bytes_to + len(text[place_to : match.start()].encode()), match.start()
        try:
            found, read_to = decoder.raw_decode(text, match.start())
        except ValueError:
            if not dump.warnings:
                dump.warnings.append("the dump is cut within a thread")
            continue
        dump.threads.append(thread_of(found, container, bytes_to, text[match.start() : read_to]))
    if not text.rstrip().endswith("}") and not dump.warnings:
        dump.warnings.append("the dump is cut")
    return dump


def thread_of(found: dict[str, object], container: str, offset: int, raw: str) -> Thread:
    """A thread; what a release does not print (JDK 21 to 23: state and locks) stays unknown."""
    thread = Thread(offset, [raw])
    for key, name in (("name", "name"), ("number", "tid"), ("state", "state"), ("virtual", "virtual"), ("carries", "carries")):
        if found.get(name) not in (None, ""):
            thread.fields[key] = str(found[name]).lower() if name == "virtual" else str(found[name])
    if container and container != "<root>":
        thread.fields["container"] = container
    stack = found.get("stack")
    thread.frames = [str(frame) for frame in stack] if isinstance(stack, list) else []
    parked = found.get("parkBlocker")
    if isinstance(parked, str):  # JDK 24
        parked = {"object": parked}
    if isinstance(parked, dict) and parked.get("object"):
        thread.waits(PARK, str(parked["object"]), class_of(parked["object"]))
        owner = parked.get("owner") or parked.get("exclusiveOwnerThreadId")
        thread.owner_number = None if owner is None else str(owner)
    for key, kind in (("blockedOn", LOCK), ("waitingOn", WAIT)):
        if found.get(key):
            thread.waits(kind, str(found[key]), class_of(found[key]))
    owned = found.get("monitorsOwned")
    for monitors in owned if isinstance(owned, list) else []:
        locks = monitors.get("locks") if isinstance(monitors, dict) else None
        for lock in locks if isinstance(locks, list) else []:
            if lock:
                thread.holds[str(lock)] = class_of(lock)
    return thread


def class_of(lock: object) -> str:
    """`java.lang.Object` of `java.lang.Object@5d30a99e`."""
    return str(lock).rsplit("@", 1)[0]
