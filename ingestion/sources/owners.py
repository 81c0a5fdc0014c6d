"""Finds the node of a file whose own text does not say it: by its folder, by its name, by the host that it names.

No Spark here, no files either.  What each file tells (`Tells`) and where it lies (`File`), including files of earlier runs, decide the
node of each capture and how it is known (`Cluster.owner`).  Words, hosts and the texts that tell a cluster's nodes: `catalogue/nodes.yml`.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ingestion.reading.catalogue_files import CATALOGUE, read_yaml
from ingestion.records.clues import node_number

# (name of a word, text before it): names of one style number nodes in one way.
Style = tuple[str, str]
# Replaces a time in a name.
TIME = "~"
TIMES = re.compile(
    r"(?<!\d)(?:20\d\d([-_.]?)[01]\d\1[0-3]\d(?:[t_\-. ]?[0-2]\d[:\-_.]?[0-5]\d(?:[:\-_.]?[0-5]\d)?(?:[.,]?\d{3})?z?)?|1\d{9}(?:\d{3})?)(?![\da-z])"
)
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=\d)(?=[A-Z][a-z]{2})")
SEPARATORS = "-_. "
# A hundred places of one clue tell as much as a thousand; around each only so many characters count, because a line of JSON may have megabytes.
MOST_PLACES = 100
REACH = 1000


@dataclass(frozen=True)
class Word:
    """A word before a node's number in names (an entry of `names`)."""

    name: str
    pattern: re.Pattern[str]
    counts_alone: str
    is_ordinal: bool


@dataclass(frozen=True)
class Candidate:
    """A number in a name that may be a node's: the word before it, and what the name says before that (`my-cluster`)."""

    word: Word
    stem: str
    number: int

    @property
    def style(self) -> Style:
        """What names that are numbered in the same way have in common."""
        return self.word.name, self.stem


@dataclass(frozen=True)
class Clue:
    """A text that tells of nodes or hosts.  `words`: in lower case, one of which its line holds; `kinds`: of files in which it is looked for."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    kinds: frozenset[str] = frozenset()

    def find(self, text: str, small: str) -> Iterator[re.Match[str]]:
        """Its places in a text; `small`: the text in lower case.  Words are found a hundred times faster than patterns."""
        count = 0
        for word in self.words:
            at = small.find(word)
            while at >= 0 and count < MOST_PLACES:
                count += 1
                line, stop = text.rfind("\n", 0, at) + 1, text.find("\n", at)
                # If the pattern goes over lines: an answer may be below its question.
                stop = len(text) if stop < 0 or r"\n" in self.pattern.pattern else stop
                end = min(stop, at + REACH)
                yield from self.pattern.finditer(text, max(line, at - REACH), end)
                at = small.find(word, max(end, at + 1))


@dataclass(frozen=True)
class Knowledge:
    """`catalogue/nodes.yml`, compiled."""

    words: tuple[Word, ...]
    label: re.Pattern[str]
    processes: re.Pattern[str]
    clients: re.Pattern[str]
    tools: re.Pattern[str]
    common: re.Pattern[str]
    ports: frozenset[int]
    members: tuple[Clue, ...]
    hosts: tuple[Clue, ...]
    addresses: tuple[re.Pattern[str], ...]
    nowhere: re.Pattern[str]
    own: tuple[Clue, ...]
    machines: tuple[Clue, ...]


@lru_cache(maxsize=1)
def content() -> dict[str, Any]:
    """The content of `catalogue/nodes.yml`."""
    found: dict[str, Any] = without_lines(read_yaml(CATALOGUE / "nodes.yml"))
    return found


def without_lines(value: Any) -> Any:
    """A mapping without the numbers of its lines in the file."""
    return {key: without_lines(part) for key, part in value.items() if key != "__line__"} if isinstance(value, dict) else value


@lru_cache(maxsize=1)
def knowledge() -> Knowledge:
    """`catalogue/nodes.yml`, compiled once."""
    data = content()
    words = tuple(
        Word(
            name,
            re.compile(
                rf"{entry['words']}0*(?P<number>\d{{1,9}})(?![a-z0-9])(?![.,]\d{{1,3}}(?!\d))"
                + (f"(?!{entry['not_before']})" if "not_before" in entry else "")
            ),
            entry["counts_alone"],
            entry["is_ordinal"],
        )
        for name, entry in data["names"].items()
    )
    numbers = "|".join(f"(?:{word.pattern.pattern.replace('?P<number>', '?:')})" for word in words)
    before, behind = any_word(data["labels"]["before"]), any_word(data["labels"]["behind"])
    gap = f"[{SEPARATORS}]+"
    return Knowledge(
        words=words,
        label=re.compile(f"{before}{gap}(?:(?:of|the){gap})?(?:{numbers})|(?:{numbers}){gap}{behind}"),
        processes=re.compile(any_word(data["processes"])),
        clients=re.compile(any_word(data["clients"])),
        tools=re.compile(any_word(data["tools"])),
        common=re.compile(any_word(data["common"])),
        ports=frozenset(data["ports"]),
        members=clues(data["members"]),
        hosts=clues(data["hosts"]),
        addresses=tuple(re.compile(text) for text in data["addresses"]),
        nowhere=re.compile(data["nowhere"], re.I),
        own=clues(data["own"]),
        machines=clues(data["machines"]),
    )


def any_word(words: Iterable[str]) -> str:
    """A pattern for any of some whole words; digits may follow, because zk1 is a zk."""
    return f"(?<![a-z])(?:{'|'.join(sorted(map(re.escape, words), key=len, reverse=True))})(?![a-z])"


def clues(entries: dict[str, Any]) -> tuple[Clue, ...]:
    """The entries of a section."""
    return tuple(
        Clue(tuple(entry["words"]), re.compile(entry["pattern"], re.M | re.I), frozenset(entry.get("kinds", ())))
        for entry in entries.values()
    )


@dataclass(frozen=True, slots=True)
class Tells:
    """What a text tells of nodes.  `members`: nodes of the cluster; `hosts`: (host, node); `own`: the node that the text is of;
    `host`: the machine on which it was taken."""

    members: tuple[int, ...] = ()
    hosts: tuple[tuple[str, int], ...] = ()
    own: int | None = None
    host: str | None = None


def tells(text: str, kind: str, own: int | None = None, is_of_node: bool = True) -> Tells:
    """What the beginning of a file tells.  `own`: the node that its lines name as their writer; `is_of_node`: whether this kind of
    file is about one node or its machine, so that a host in it is that node's."""
    known, small = knowledge(), text.lower()
    if own is None:
        named = {int(match["node"]) for clue in known.own if kind in clue.kinds for match in clue.find(text, small)}
        own = named.pop() if len(named) == 1 else None
    members: set[int] = set() if own is None else {own}
    hosts: set[tuple[str, int]] = set()
    for clue in known.members:
        for match in clue.find(text, small):
            numbers = map(node_number, re.findall(r"\d+", match["nodes"]))
            members.update(number for number in numbers if number is not None)
    for clue in known.hosts:
        for match in clue.find(text, small):
            node = int(match["node"]) if "node" in clue.pattern.groupindex else own if is_of_node else None
            if node is not None:
                members.add(node)
                hosts.update((host, node) for host in hosts_in(match["at"]))
    return Tells(tuple(sorted(members)), tuple(sorted(hosts)), own, machine_in(text, small) if is_of_node else None)


def machine_in(text: str, small: str) -> str | None:
    """The machine on which a capture was taken, if its text names exactly one."""
    known = knowledge()
    hosts = {match["host"].lower() for clue in known.machines for match in clue.find(text, small)}
    hosts = {host for host in hosts if not known.nowhere.fullmatch(host)}
    return hosts.pop() if len(hosts) == 1 else None


def hosts_in(text: str) -> set[str]:
    """The hosts of an address or a list of them, in lower case, without those that do not belong to a machine."""
    known = knowledge()
    for pattern in known.addresses:
        found = {match["host"].strip("[]").lower() for match in pattern.finditer(text.strip())}
        if found:
            return {host for host in found if not known.nowhere.fullmatch(host)}
    return set()


def plain(name: str) -> str:
    """A name in lower case, with its words separated and its times replaced."""
    return TIMES.sub(TIME, CAMEL.sub("-", name).lower())


@lru_cache(maxsize=1 << 16)
def candidates(name: str) -> tuple[Candidate, ...]:
    """The numbers in a name that may be nodes; none if the name is of another program."""
    known = knowledge()
    text = plain(name)
    if known.processes.search(text):
        return ()
    text = known.label.sub(TIME, text)
    out = []
    for word in known.words:
        for match in word.pattern.finditer(text):
            stem = re.sub(rf"[{SEPARATORS}{TIME}]+", "-", known.tools.sub("", text[: match.start()])).strip("-")
            out.append(Candidate(word, stem, int(match["number"])))
    # In kafka2-broker-3 the broker's number is the node's; the other may be the cluster's.
    plainly = [candidate for candidate in out if candidate.word.counts_alone == "always"]
    return tuple(plainly or out)


def is_others(name: str) -> bool:
    """Whether a name is of another program, or of an application without naming a node."""
    text = plain(name)
    return bool(knowledge().processes.search(text)) or (bool(knowledge().clients.search(text)) and not candidates(name))


@dataclass(frozen=True, slots=True)
class File:
    """A file and what is known of it.  `root`: the given path, above which nothing counts; `takes_node`: whether a folder or a name may
    decide its node; `is_foreign`: whether it is of another program than a node; `nodes`: those that its content names as its own;
    `path_node`: the node that was said for its path, `is_said_of_file`: by the file's own name, not by a folder."""

    cluster: str
    root: str
    folder: str
    name: str
    takes_node: bool
    is_foreign: bool = False
    nodes: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    hosts: tuple[tuple[str, int], ...] = ()
    host: str | None = None
    path_node: int | None = None
    is_said_of_file: bool = False

    @property
    def folders(self) -> tuple[str, ...]:
        """Its folder and those above it up to the root, nearest first; its folder alone if that does not lie below the root."""
        return folders_up_to(self.root, self.folder)


@dataclass(frozen=True, slots=True)
class Owner:
    """The node of a file, how it is known (content, host, path, folder or name), and what contradicts it or why it is not known."""

    node: int | None = None
    known_by: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass
class Held:
    """What lies below a folder.  `nodes`: nodes of its files, known otherwise than by folder; `own`: those known by content or host, except from
    folders named after a node; `paths`: the `path_node` of the files behind `own`; `is_foreign`: files of another program are there."""

    nodes: set[int] = field(default_factory=set)
    own: set[int] = field(default_factory=set)
    paths: set[int | None] = field(default_factory=set)
    is_foreign: bool = False


class Cluster:
    """All files of one cluster, and what they tell together."""

    def __init__(self, files: Sequence[File]) -> None:
        self.files = files
        self.hosts = host_map(files)
        self.known = {node for file in files for node in nodes_told(file)}
        places = {(file.root, file.folder) for file in files}
        names = {file.name for file in files if file.takes_node} | {name for place in places for name in names_up_to(*place)}
        self.numbers: dict[Style, set[int]] = defaultdict(set)
        for candidate in (candidate for name in names for candidate in candidates(name)):
            self.numbers[candidate.style].add(candidate.number)
        self.words = {candidate.style: candidate.word for name in names for candidate in candidates(name)}
        self.known = self.known or self._counting_alone()
        self.offsets = self._offsets()
        self.named: dict[str, Owner] = {}
        self.held = self._held()

    def _counting_alone(self) -> set[int]:
        """The nodes of the cluster by names alone, if nothing else tells them."""
        ports = knowledge().ports
        plausible = {
            style: {number for number in numbers if number < 100_000 and number not in ports} for style, numbers in self.numbers.items()
        }
        certain = {number for style, word in self.words.items() if word.counts_alone == "always" for number in plausible[style]}
        if certain:
            # Nodes that only names of other styles give count if all nodes together then make a run.
            others = {number for style, numbers in plausible.items() if 0 not in self.numbers[style] for number in numbers}
            return certain | others if is_run(certain | others) else certain
        sets = {
            style
            for style, word in self.words.items()
            if word.counts_alone == "in_sets" and len(plausible[style]) > 1 and max(plausible[style]) < 1000
        }
        # Pods are numbered from 0 whatever the ids are: other names take precedence.
        chosen = {style for style in sets if 0 not in self.numbers[style]} or sets
        return {number for style in chosen for number in plausible[style]}

    def _offsets(self) -> dict[Style, int | None]:
        """What to add to the numbers of each style to get ids; None if its names are numbered otherwise than the ids."""
        told: dict[Style, set[tuple[int, int]]] = defaultdict(set)
        places = {(file.root, file.folder, file.nodes[0]) for file in self.files if len(file.nodes) == 1}
        pairs = {(host, node) for host, node in self.hosts.items()}
        pairs |= {(file.name, file.nodes[0]) for file in self.files if len(file.nodes) == 1}
        pairs |= {(name, node) for root, folder, node in places for name in names_up_to(root, folder)}
        for name, node in pairs:
            for candidate in candidates(name):
                told[candidate.style].add((candidate.number, node))
        return {style: self._offset(style, told[style]) for style in self.numbers}

    def _offset(self, style: Style, told: set[tuple[int, int]]) -> int | None:
        """`told`: (number in a name, node by content) of the files that say both."""
        is_ordinal, numbers = self.words[style].is_ordinal, self.numbers[style]
        offsets = {node - number for number, node in told}
        # Ids may begin anywhere, but names count from 0 or 1.
        if len(offsets) == 1 and (len(told) > 1 or (is_ordinal and min(offsets) >= -1)):
            return offsets.pop()
        if len(offsets) > 1 and 0 not in offsets:
            return None
        # If only one name differs from its content, or some of several, that is a mistake.
        if numbers <= self.known:
            return 0
        if is_ordinal and min(numbers) == 0 and is_run(numbers) and is_run(self.known) and len(numbers) == len(self.known):
            return min(self.known)
        is_shifted = is_run(numbers) and is_run(self.known) and len(numbers) == len(self.known)
        return None if is_shifted or (0 in numbers and 0 not in self.known) else 0

    def _held(self) -> dict[str, Held]:
        held: dict[str, Held] = defaultdict(Held)
        for file in self.files:
            said = self.said(file)
            nodes = set(file.nodes)
            if not nodes and said.node is not None and (said.known_by != "path" or file.is_said_of_file):
                nodes = {said.node}
            if file.takes_node and not nodes:
                # A number after a node's word is of another node, even if nothing else mentions that one.
                nodes = {candidate.number for candidate in candidates(file.name) if candidate.word.counts_alone == "always"}
            is_own = bool(nodes) and said.known_by in ("content", "host")
            for folder in file.folders:
                here = held[folder]
                here.nodes |= nodes
                here.is_foreign |= file.is_foreign
                if is_own:
                    here.own |= nodes
                    here.paths.add(file.path_node)
                # What lies in a folder that is named after a node says nothing about the folders above it.
                is_own = is_own and self.by_name(os.path.basename(folder)).node is None
        return held

    def said(self, file: File) -> Owner:
        """The node of a file by everything except its folder."""
        if file.nodes:
            return Owner(file.nodes[0], "content")
        if file.is_said_of_file:
            return Owner(file.path_node, "path")
        by_host = self.by_name(file.host) if file.host and file.takes_node else Owner()
        if by_host.node is not None:
            return Owner(by_host.node, "host")
        if file.path_node is not None:
            return Owner(file.path_node, "path")
        return self.by_name(file.name) if file.takes_node else Owner()

    def by_name(self, name: str) -> Owner:
        """The node that a name says: by a host in it, else by a number that is a node's."""
        # Not `lru_cache`: it would hold the cluster in a reference cycle, and an ingestion does not collect these.
        if name not in self.named:
            self.named[name] = self._by_name(name)
        return self.named[name]

    def _by_name(self, name: str) -> Owner:
        hosts = self._hosts_in(name.lower())
        if hosts:
            return Owner(hosts.pop(), "name") if len(hosts) == 1 else Owner(warnings=(f"its name holds hosts of nodes {sorted(hosts)}",))
        found, is_doubtful = set(), False
        for candidate in candidates(name):
            offset = self.offsets.get(candidate.style, 0)
            is_doubtful |= offset is None
            if offset is not None and candidate.number + offset in self.known:
                found.add(candidate.number + offset)
        if len(found) == 1:
            return Owner(found.pop(), "name")
        if found:
            return Owner(warnings=(f"its name says nodes {sorted(found)}",))
        return Owner(warnings=(f"its name counts otherwise than the nodes {sorted(self.known)}",)) if is_doubtful else Owner()

    def _hosts_in(self, name: str) -> set[int]:
        """The nodes of the hosts in a name; a host within a longer one does not count."""
        spans = [(match.span(), node) for host, node in self.hosts.items() for match in host_pattern(host).finditer(name)]
        return {
            node
            for (start, end), node in spans
            if not any(other != (start, end) and other[0] <= start and end <= other[1] for other, _ in spans)
        }

    def by_folder(self, file: File) -> Owner:
        """The node of the nearest folder above whose known files all agree; its `known_by` is content if these files say it
        themselves, name if the folder is only named after the node."""
        for folder in file.folders:
            here = self.held[folder]
            is_root = folder == file.folders[-1]
            by_name = None if is_root else self.by_name(os.path.basename(folder)).node
            if len(here.nodes) > 1 or (here.own and here.paths != {file.path_node}):
                return Owner()
            if here.own:
                return Owner(next(iter(here.own)), "content")
            if by_name is not None:
                return Owner(by_name, "name") if here.nodes <= {by_name} else Owner()
            if here.is_foreign or is_others(os.path.basename(folder)):
                return Owner()
        return Owner()

    def may_be(self, name: str, node: int | None) -> bool:
        """Whether a name allows a node: a file named after a node that is not known does not belong to its folder's node."""
        numbers = {candidate.number + (self.offsets.get(candidate.style) or 0) for candidate in candidates(name)}
        return not numbers or node in numbers or self.by_name(name).node is not None

    def owner(self, file: File) -> Owner:
        """The node of a capture and who says so; what contradicts it is a warning."""
        said = self.said(file)
        by_folder = self.by_folder(file) if file.takes_node and not is_others(file.name) else Owner()
        by_name = self.by_name(file.name) if file.takes_node else Owner()
        if not self.may_be(file.name, by_folder.node):
            by_folder = Owner()
        folder = Owner(by_folder.node, "folder")
        if said.known_by in ("content", "host") or file.is_said_of_file:
            chosen = said
        elif by_folder.known_by == "content":
            chosen = folder
        elif said.known_by == "path":
            chosen = said
        else:
            chosen = folder if folder.node is not None else by_name
        if chosen.node is None:
            return Owner(warnings=by_name.warnings)
        by_folder_name = next((node for name in names_up_to(file.root, file.folder) if (node := self.by_name(name).node) is not None), None)
        others = (("path", file.path_node), ("the folder", folder.node), ("the folder's name", by_folder_name), ("the name", by_name.node))
        doubts = [
            f"{chosen.known_by} says node {chosen.node}, {what} says node {node}"
            for what, node in others
            if node not in (None, chosen.node, *file.nodes)
        ]
        return Owner(chosen.node, chosen.known_by, tuple(doubts))


def is_run(numbers: set[int]) -> bool:
    """Whether numbers follow one another without a gap."""
    return bool(numbers) and max(numbers) - min(numbers) + 1 == len(numbers)


# Cached: thousands of files lie in one folder.
@lru_cache(maxsize=1 << 12)
def folders_up_to(root: str, folder: str) -> tuple[str, ...]:
    """A folder and those above it up to the root, nearest first; the folder alone if it does not lie below the root."""
    below = os.path.relpath(folder, root) if root else "."
    parts = [] if below == "." or below.startswith("..") else below.split("/")
    return tuple(os.path.join(root, *parts[:count]) for count in range(len(parts), -1, -1)) if parts else (folder,)


@lru_cache(maxsize=1 << 12)
def names_up_to(root: str, folder: str) -> tuple[str, ...]:
    """The names of a folder and those above it, nearest first, without the root."""
    return tuple(os.path.basename(above) for above in folders_up_to(root, folder)[:-1])


def nodes_told(file: File) -> Iterator[int]:
    """The cluster's nodes that a file or its path names."""
    yield from file.nodes
    yield from file.members
    if file.path_node is not None:
        yield file.path_node


def host_map(files: Iterable[File]) -> dict[str, int]:
    """Host → node, without hosts of several nodes, and without short forms that are ambiguous or just a common word or a program's name."""
    nodes: dict[str, set[int]] = defaultdict(set)
    for file in files:
        for host, node in file.hosts:
            nodes[host].add(node)
            short = host.split(".")[0]
            is_address = bool(re.fullmatch(r"[\d.:a-f]+", host)) and ("." in host or ":" in host)
            if not is_address and re.search(r"[a-z]", short):
                nodes[short].add(node)
    return {host: next(iter(found)) for host, found in nodes.items() if len(found) == 1 and says_machine(host)}


def says_machine(host: str) -> bool:
    """Whether a host is distinctive enough to be looked for in names: not a common word or a program's name."""
    known = knowledge()
    return len(host) > 2 and not any(pattern.fullmatch(host) for pattern in (known.tools, known.processes, known.clients, known.common))


@lru_cache(maxsize=1 << 12)
def host_pattern(host: str) -> re.Pattern[str]:
    """A pattern for a host in names: any of . - _ : between its parts, and no letter or digit before or after it."""
    parts = r"[.\-_:]".join(re.escape(part) for part in re.split(r"[.\-_:]+", host) if part)
    return re.compile(rf"(?<![a-z0-9]){parts}(?![a-z0-9])")


def clusters(files: Iterable[File]) -> dict[str, Cluster]:
    """Files by the name of their cluster, each with what they tell together."""
    of_cluster: dict[str, list[File]] = defaultdict(list)
    for file in files:
        of_cluster[file.cluster].append(file)
    return {name: Cluster(held) for name, held in of_cluster.items()}


# What a number in a name belongs to if it is no node's: formats and platforms, versions, sizes and durations, the count that rotation adds.
NO_NODE = re.compile(
    r"log4j2?|ipv[46]|utf-?(?:8|16)|sha-?\d{1,9}|md5|base64|x86_64|amd64|arm64|k8s|s3|p12|pkcs\d{1,9}|(?:jdk|java|jre|openjdk|python|scala)-?\d{1,9}"
    r"|v?\d{1,9}(?:\.\d{1,9}){2,9}|(?:kafka|kraft|zookeeper|release|version|v)[-_]?\d{1,9}\.\d{1,9}|\d{1,9}[a-z]|\.(?:log|out|gc|txt)\.\d{1,9}(?=\.|$)",
    re.I,
)


def layout_for(name: str) -> str | None:
    """The `--layout` that takes the last number in a file's name that may be a node's, times aside, as the node; None if it has none."""
    spans = [match.span() for match in TIMES.finditer(name.lower())]
    taken = [*spans, *(match.span() for match in NO_NODE.finditer(name))]
    numbers = [match.span() for match in re.finditer(r"(?<!\d)\d{1,9}(?!\d)", name)]
    free = [(start, end) for start, end in numbers if not any(first <= start and end <= last for first, last in taken)]
    if not free:
        return None
    parts = sorted([(span, "{time}") for span in spans] + [(free[-1], "{node}")])
    out, at = "", 0
    for (start, end), placeholder in parts:
        out, at = out + name[at:start] + placeholder, end
    return f"**/{out}{name[at:]}"
