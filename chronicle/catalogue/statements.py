"""`chronicle catalogue statements`: every log statement of Kafka's sources, by release, as the list that `coverage` reads.

Reads a clone of Kafka and the names of its releases.  One row is one statement of one class, or one prefix that a class
puts before its messages (level PREFIX).  A message that is built up elsewhere is looked for there: the text of a
variable is the text that was assigned to it before, the text of a parameter is what the callers in the same file give.
"""

from __future__ import annotations

import re
import subprocess
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath

PREFIX = "PREFIX"
# Programs that print no log of a cluster or its clients.
LEFT_OUT = re.compile(
    r"(^|/)(test|generated|jmh-benchmarks|examples|generator|trogdor|buildSrc|contrib|perf|system_test|test-common|test-plugins|shell)/"
)
COMMENT_OR_TEXT = re.compile(
    r'"""(?:.*?)"""+|"(?:\\.|[^"\\\n])*"|\'(?:\\.[^\']*|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/',
    re.S,
)
CALL = re.compile(r"\b(trace|debug|info|warn|warning|error|fatal)\s*\(")
# What is before a call: the logger it goes to, or nothing if the class logs itself.
RECEIVER = re.compile(r"(?:(?<![\w.])((?:this\.)?\w*(?:log|Log|LOG|lc)\w*(?:\(\))?)\s*\.\s*)$")
BARE = re.compile(r"(?<![\w$.\"])(?<!\bdef )(?<!\bvoid )$")
DECLARED = re.compile(r"\b(class|object|trait|interface|enum|record)\s+(\w+)")
SCALA_TYPE = re.compile(r"\b(?P<name>[a-z]\w*)\s*:\s*(?:=>\s*)?(?P<type>[A-Z]\w*)")
JAVA_TYPE = re.compile(r"\b(?P<type>[A-Za-z]\w*)(?:<[^;(){}]{0,80}>)? (?P<name>[a-z]\w*)\s*(?=[,;=):])")
NO_TYPES = frozenset(("return", "new", "case", "throw", "final", "else"))
EXTENDS = re.compile(r"\b(class|object|trait)\s+(\w+)((?:(?!\b(?:class|object|trait|def)\b)[^{};])*?\bextends\b[^{;]*)")
NAMED_LOGGER = re.compile(
    r"getLogger\(\s*(?:\"([\w.\-]+)\"|([\w.]+)\.class)|\.logger\(\s*([\w.]+)\.class|(?:Logger|loggerName)\s*(?:=|\()\s*\"([\w.\-]+)\""
)
PREFIX_SET = re.compile(r"\b(?:logIdent|logPrefix|logId)\s*(?::\s*String)?\s*=\s*(?!=)|\bnew LogContext\s*(?=\()|\bsetLogIdent\s*(?=\()")
METHOD = re.compile(
    r"\bdef\s+(\w+)\s*(?:\[[^\]]*\])?\s*\(|\b(?:private|protected|public|static|final|synchronized|void|[A-Z]\w*(?:<[^>;(){}]*>)?)\s+(\w+)\s*\((?=[^;{}]*\)\s*(?:throws [\w., ]+)?\{)"
)
IDENTIFIER = re.compile(r"(?<![\w.])[a-z]\w*(?![\w(.])")
KEYWORDS = frozenset(("if", "else", "new", "null", "true", "false", "this", "e", "t", "s", "f"))
# At most so many places are followed from which the text of a message may come.
CHOICES = 40
MARGIN = re.compile(r"\s*\n\s*\|?")


@dataclass(frozen=True)
class Found:
    """A statement in one file.

    `loggers`: under which names it prints, separated by blanks.  `types`: what the file declares of the names in it, as
    `name:Int` separated by blanks.  `is_inherited`: it is in an abstract class and prints under the names of those that extend it.
    """

    unit: str
    loggers: str
    receiver: str
    level: str
    types: str
    argument: str
    is_inherited: bool = False


def end_of_text(text: str, at: int) -> int:
    """Place after the string literal that begins at `at`; strings inside `${…}` do not end it."""
    if text.startswith('"""', at):
        end = text.find('"""', at + 3)
        while end >= 0 and text.startswith('"', end + 3):
            end += 1
        return len(text) if end < 0 else end + 3
    at += 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            at = end_of_bracket(text, at + 1)
        elif text[at] in '"\n':
            return at + 1
        else:
            at += 1
    return len(text)


def end_of_bracket(text: str, at: int) -> int:
    """Place after the bracket that closes the one at `at`."""
    depth = 0
    while at < len(text):
        letter = text[at]
        if letter == '"':
            at = end_of_text(text, at)
            continue
        if letter == "'" and (char := re.compile(r"'(?:\\.[^']*|[^'\\])'").match(text, at)):
            at = char.end()
            continue
        depth += (letter in "([{") - (letter in ")]}")
        at += 1
        if not depth:
            return at
    return len(text)


def end_of_expression(text: str, at: int) -> int:
    """Place where the expression ends that begins at `at`: a `;`, a closing bracket, or a line that does not continue."""
    while at < len(text):
        letter = text[at]
        if letter == '"':
            at = end_of_text(text, at)
        elif letter in "([{":
            at = end_of_bracket(text, at)
        elif letter in ";)]}":
            return at
        elif letter == "\n":
            before, after = text[:at].rstrip()[-1:], text[at:].lstrip()
            if not (
                before in "+=(,?:"
                or after[:1] in ("+", "?", ".", ":", "|")
                or after.startswith("else")
                or (before in ")" and after[:1] == '"')
            ):
                return at
            at += 1
        else:
            at += 1
    return at


def arguments_of(text: str) -> list[str]:
    """The arguments that are between two brackets."""
    out, start, at = [], 0, 0
    while at < len(text):
        letter = text[at]
        if letter == ",":
            out.append(text[start:at])
            start = at = at + 1
        else:
            at = end_of_text(text, at) if letter == '"' else end_of_bracket(text, at) if letter in "([{" else at + 1
    return [part.strip() for part in (*out, text[start:])]


def on_one_line(text: str) -> str:
    """Source text without its line breaks; those of a text in triple quotes are kept as \\n."""
    out, at = [], 0
    for found in re.finditer(r'"""(.*?)"""+', text, re.S):
        out += [
            re.sub(r"\s+", " ", text[at : found.start()]),
            '"',
            MARGIN.sub(r"\\n", found[1].strip("\n")).replace('"', '\\"').replace("\t", " "),
            '"',
        ]
        at = found.end()
    return re.sub(r"\s*\.stripMargin\b", "", "".join([*out, re.sub(r"\s+", " ", text[at:])])).replace("\t", " ").strip()


class Source:
    """One file of Scala or Java."""

    def __init__(self, text: str, path: str) -> None:
        self.text = COMMENT_OR_TEXT.sub(
            lambda found: re.sub(r"[^\n]", " ", found[0]) if found[0].startswith(("//", "/*")) else found[0], text
        )
        self.is_scala = path.endswith(".scala")
        package = re.search(r"^\s*package\s+([\w.]+)", self.text, re.M)
        self.package = package[1] if package else ""
        self.name = PurePosixPath(path).stem

    @property
    def unit(self) -> str:
        return f"{self.package}.{self.name}"

    @cached_property
    def masked(self) -> str:
        """The source with blanks for its string literals."""
        return COMMENT_OR_TEXT.sub(lambda found: " " * len(found[0]), self.text)

    @cached_property
    def types(self) -> list[tuple[int, int, str, str]]:
        """(begin, end, kind, name) of every class, object and trait that has a body."""
        masked = self.masked
        opens, closing = [], {}
        for found in re.finditer(r"[{}]", masked):
            if found[0] == "{":
                opens.append(found.start())
            elif opens:
                closing[opens.pop()] = found.start()
        out = []
        for found in DECLARED.finditer(masked):
            body = self._body(masked, found.end())
            if body is not None:
                out.append((found.start(), closing.get(body, len(masked)), found[1], found[2]))
        return out

    @staticmethod
    def _body(masked: str, at: int) -> int | None:
        """Where the body of a type begins; None if it has none."""
        depth = 0
        for found in re.compile(r"[()\[\]{};]|\n\s*(?:class|object|trait|def|val|case)\b").finditer(masked, at):
            if found[0] in "([":
                depth += 1
            elif found[0] in ")]":
                depth -= 1
            elif not depth:
                return found.start() if found[0] == "{" else None
            if depth < 0:
                return None
        return None

    @cached_property
    def named_loggers(self) -> tuple[str, ...]:
        """The names that a file of Java gives to its loggers."""
        named = dict.fromkeys("".join(found) for found in NAMED_LOGGER.findall(self.text))
        inner = {name for *_, name in self.types} - {self.name}
        return tuple(
            f"{self.unit}${name}" if name in inner else name if "." in name or name.islower() else f"{self.package}.{name}"
            for name in named
        )

    def loggers(self, at: int) -> tuple[tuple[str, ...], bool]:
        """The names under which a statement prints (those the file gives to its loggers, else the class around it), and whether
        those are the names of the classes that extend it."""
        chain = [(kind, name) for begin, end, kind, name in self.types if begin <= at < end]
        if not self.is_scala and self.named_loggers:
            return self.named_loggers, False
        if not chain:
            return (self.unit,), False
        name = ""
        for number, (kind, part) in enumerate(chain):
            name += ("" if not number or name.endswith("$") else "$") + part + ("$" if kind == "object" and self.is_scala else "")
        begin = max(begin for begin, end, _, _ in self.types if begin <= at < end)
        is_open = chain[-1][0] == "trait" or re.search(r"\babstract\s+$", self.text[max(0, begin - 20) : begin]) is not None
        return (f"{self.package}.{name}",), is_open

    def statements(self) -> Iterator[Found]:
        """The statements and prefixes of the file."""
        for found in CALL.finditer(self.text):
            before = self.text[max(0, found.start() - 60) : found.start()]
            to = RECEIVER.search(before)
            if not to and not (self.is_scala and BARE.search(before)):
                continue
            receiver, level = to[1] if to else "", found[1].upper().replace("WARNING", "WARN")
            begin = found.end()
            argument = self.text[begin : end_of_bracket(self.text, begin - 1) - 1]
            if argument.startswith(("Marker", "marker")):
                argument = argument.partition(",")[2]
            names, is_inherited = self.loggers(found.start())
            for resolved in self.resolved(argument, found.start()):
                text = on_one_line(resolved)
                yield Found(self.unit, " ".join(names), receiver, level, self.types_in(text), text, is_inherited)
        for found in PREFIX_SET.finditer(self.text):
            begin = found.end()
            is_call = self.text.startswith("(", begin)
            argument = (
                self.text[begin + 1 : end_of_bracket(self.text, begin) - 1]
                if is_call
                else self.text[begin : end_of_expression(self.text, begin)]
            )
            if '"' in argument:
                names, is_inherited = self.loggers(found.start())
                text = on_one_line(argument)
                yield Found(self.unit, " ".join(names), "", PREFIX, self.types_in(text), text, is_inherited)

    def types_in(self, argument: str) -> str:
        """What the file declares of the names in an expression: `name:Int`, if it declares only one."""
        names = sorted(set(IDENTIFIER.findall(argument)))
        return " ".join(f"{name}:{kind}" for name in names for kind in self.declared.get(name, ()) if len(self.declared[name]) == 1)

    @cached_property
    def declared(self) -> dict[str, set[str]]:
        """Every name of the file with the types declared for it."""
        out: dict[str, set[str]] = {}
        for found in (SCALA_TYPE if self.is_scala else JAVA_TYPE).finditer(self.masked):
            if found["type"] not in NO_TYPES:
                out.setdefault(found["name"], set()).add(found["type"])
        return out

    def extended(self) -> Iterator[tuple[str, str]]:
        """(what is extended, logger of the class that does) for every class of the file."""
        for found in EXTENDS.finditer(self.text):
            for parent in re.findall(r"\b(?:extends|with)\s+([\w.]+)", found[3]):
                yield parent.rpartition(".")[2], self.loggers(found.end(2))[0][0] if self.is_scala else f"{self.package}.{found[2]}"

    def resolved(self, argument: str, at: int) -> list[str]:
        """The logged expression; where it names texts that are put together elsewhere, one expression for each way."""
        parts = arguments_of(argument)
        if not parts or not parts[0]:
            return []
        out = [parts]
        has_fields = "{}" in parts[0]
        for number, part in enumerate(parts):
            if number and not has_fields:
                break
            name = re.fullmatch(r"[a-z]\w*", part)
            if name and name[0] not in KEYWORDS:
                texts = self.texts_of(name[0], at)
                if texts:
                    out = [[*some[:number], text, *some[number + 1 :]] for some in out for text in texts][:CHOICES]
        return [", ".join(part for part in some) for some in out]

    def texts_of(self, name: str, at: int) -> list[str]:
        """What a variable or parameter holds, where that is a text: literals with a blank in them."""
        begin, method, given = self.method_at(at)
        texts: list[str] = []
        if name in given:
            place = given.index(name)
            for call in re.finditer(rf"(?<!def )(?<!void )\b{re.escape(method)}\s*\(", self.text):
                arguments = arguments_of(self.text[call.end() : end_of_bracket(self.text, call.end() - 1) - 1])
                if len(arguments) > place and call.end() != begin:
                    text = arguments[place]
                    inner = re.fullmatch(r"[a-z]\w*", text)
                    texts += self.assigned(text, call.start()) if inner else [text]
        texts += self.assigned(name, at)
        return list(dict.fromkeys(text for text in texts if re.search(r'"[^"]* [^"]*"', text)))[:CHOICES]

    def assigned(self, name: str, at: int) -> list[str]:
        """What was assigned to a variable in the same method before `at`."""
        begin = self.method_at(at)[0]
        found = re.finditer(rf"(?<![\w.$]){re.escape(name)}\s*(?::\s*String\s*)?=(?!=)\s*", self.masked[begin:at])
        return [self.text[begin + one.end() : end_of_expression(self.text, begin + one.end())].strip() for one in found]

    @cached_property
    def methods(self) -> list[tuple[int, str, list[str]]]:
        """(place of its arguments, name, parameters) of each method, in order."""
        out = []
        for found in METHOD.finditer(self.text):
            inside = self.text[found.end() : end_of_bracket(self.text, found.end() - 1) - 1]
            out.append((found.end(), found[1] or found[2], [self._parameter(part) for part in arguments_of(inside)]))
        return out

    def _parameter(self, text: str) -> str:
        words: list[str] = re.findall(r"\w+", text.partition("=")[0])
        if not words:
            return ""
        return words[0] if self.is_scala else words[-1]

    def method_at(self, at: int) -> tuple[int, str, list[str]]:
        """The method that begins last before a place."""
        number = bisect_right([begin for begin, _, _ in self.methods], at)
        return self.methods[number - 1] if number else (0, "", [])


def under_their_loggers(found: Iterable[Found], extended: Iterable[tuple[str, str]]) -> Iterator[Found]:
    """Statements of abstract classes with the loggers of the classes that extend them."""
    heirs: dict[str, set[str]] = {}
    for parent, heir in extended:
        heirs.setdefault(parent, set()).add(heir)
    for one in found:
        if not one.is_inherited:
            yield one
            continue
        names: set[str] = set()
        waiting = [one.loggers.rsplit(".", 1)[-1].rsplit("$", 1)[-1]]
        while waiting:
            more = heirs.get(waiting.pop(), set()) - names
            names |= more
            waiting += [name.rstrip("$").rsplit(".", 1)[-1].rsplit("$", 1)[-1] for name in more]
        yield replace(one, loggers=" ".join(sorted(names)) or one.loggers)


def git(repository: Path, *words: str, given: bytes | None = None) -> bytes:
    """What git prints.  Raises ValueError with git's own words."""
    done = subprocess.run(["git", "-C", str(repository), *words], input=given, capture_output=True, check=False)
    if done.returncode:
        raise ValueError(f"{repository}: git {' '.join(words)}: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


def files_of(repository: Path, release: str) -> dict[str, str]:
    """Path to blob of the main sources of a release."""
    out = {}
    for row in git(repository, "ls-tree", "-r", release).decode().splitlines():
        about, _, path = row.partition("\t")
        if path.endswith((".scala", ".java")) and not LEFT_OUT.search(path):
            out[path] = about.split()[2]
    return out


def contents(repository: Path, blobs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each blob with its text."""
    wanted = list(blobs)
    data, at = git(repository, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in wanted).encode()), 0
    for blob in wanted:
        end = data.index(b"\n", at)
        size = int(data[at:end].split()[2])
        yield blob, data[end + 1 : end + 1 + size].decode("utf-8", "replace")
        at = end + 2 + size


def ranges(releases: Iterable[str], order: list[str]) -> str:
    """'2.4.0..2.5.1; 3.0.0': the releases, runs of neighbours joined."""
    places = sorted({order.index(release) for release in releases})
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return "; ".join(order[run[0]] + (f"..{order[run[-1]]}" if len(run) > 1 else "") for run in runs)


def rows(repository: Path, releases: list[str]) -> Iterator[str]:
    """The list, with its head: every statement of these releases (tags of a clone, the oldest first), in the order of its text.

    Raises ValueError if a release is not in the clone.
    """
    files = {release: files_of(repository, release) for release in releases}
    paths = {blob: path for found in files.values() for path, blob in found.items()}
    read = {}
    for blob, text in contents(repository, paths):
        source = Source(text, paths[blob])
        read[blob] = (list(dict.fromkeys(source.statements())), list(source.extended()))
    merged: dict[tuple[str, str, str, str], tuple[set[str], set[str], set[str]]] = {}
    for release, found in files.items():
        here = [read[blob] for blob in found.values()]
        extended = [pair for _, pairs in here for pair in pairs]
        for one in under_their_loggers((one for ones, _ in here for one in ones), extended):
            seen = merged.setdefault((one.unit, one.receiver, one.level, one.argument), (set(), set(), set()))
            for those, more in zip(seen, ([release], one.loggers.split(), one.types.split()), strict=True):
                those.update(more)
    yield "\t".join(("source_unit", "receiver", "level", "releases", "loggers", "types", "statement_argument"))
    for (unit, receiver, level, argument), (where, loggers, types) in sorted(merged.items()):
        yield "\t".join((unit, receiver, level, ranges(where, releases), " ".join(sorted(loggers)), " ".join(sorted(types)), argument))
