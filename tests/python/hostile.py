"""Every pattern that is matched against foreign text, and texts made from a pattern's own parse tree that cost it the most.

`found()` collects the patterns: compiled ones in the modules' globals, those that are made from the catalogue, and expressions written where
they are used.  `texts(parsed, size)` gives texts of one length: a text that leads to each repeat, then runs of the characters that it and its
neighbours repeat, then a character that makes the match fail.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import chronicle
import ingestion
from ingestion.captures.metrics import _metrics
from ingestion.reading import linear
from ingestion.recognition.recognise import catalogue
from ingestion.records import framing, patterns, redact, unwrap
from ingestion.records.envelope import REWRITTEN, envelopes
from ingestion.sources import archives
from ingestion.sources.layout import Layout

# Patterns of these modules only see our own texts, a user's input, output of our own tools, or Kafka's sources.
OUR_OWN = {
    "chronicle": ["__main__"],
    "chronicle.ask": ["alerts", "evidence", "mistakes", "questions", "run_summary", "spark_sql", "sql", "tables"],
    "chronicle.build": [
        "build",
        "changes",
        "comparison",
        "compiled",
        "template",
        "dbt_runs",
        "parsed",
        "publish",
        "runner",
        "steps",
        "versions",
    ],
    "chronicle.catalogue": ["check", "coverage", "statements"],
    "chronicle.cli": ["main", "options", "questions"],
    "chronicle.output": ["console", "formats", "sql_text", "times", "units", "values"],
    "chronicle.report": ["figures", "plots", "queries", "report"],
    "chronicle.serve": ["client", "passwords", "serve"],
    "chronicle.spark": ["catalog", "jars", "java", "own_classes", "session"],
    "ingestion.recognition": ["compiled"],
    "ingestion": ["warehouse"],
}
METHODS = ("match", "fullmatch", "search", "sub", "split", "findall", "finditer")
SEARCHES = ("search", "sub", "split", "findall", "finditer")


@dataclasses.dataclass(frozen=True)
class Found:
    """A pattern, where it is, and how the code uses it."""

    name: str
    text: str | bytes
    flags: int
    uses: tuple[str, ...]
    pattern: Any

    @property
    def methods(self) -> list[str]:
        """The methods that cost differently: one that searches a text, and those that match at its beginning."""
        return [use for use in self.uses if use in SEARCHES][:1] + [use for use in self.uses if use in ("match", "fullmatch")]

    @property
    def written(self) -> str | bytes:
        """The pattern in the syntax of `re`; RE2 has it with the classes spelled out."""
        if not is_re2(self.pattern):
            return self.text
        if isinstance(self.text, bytes):
            return self.text.replace(rb"\z", rb"\Z")
        out = self.text.replace(r"\z", r"\Z")
        for letter, spelled in linear.OF_TEXT.items():
            out = out.replace(spelled, f"\\{letter}")
        return out

    def as_text(self, text: str) -> str | bytes:
        """A text in the type that the pattern takes."""
        return text.encode("latin-1", "replace") if isinstance(self.text, bytes) else text


def modules() -> list[ModuleType]:
    """The modules whose patterns are matched against foreign text."""
    names = [info.name for package in (ingestion, chronicle) for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    parts = [(name, *name.rpartition(".")[::2]) for name in names]
    return [importlib.import_module(name) for name, package, module in parts if module not in OUR_OWN.get(package, ())]


def found() -> list[Found]:
    """All patterns, each once."""
    out: dict[tuple[Any, ...], Found] = {}

    def add(name: str, pattern: Any, uses: Iterable[str]) -> None:
        key = (pattern.pattern, getattr(pattern, "flags", 0))
        known = out.get(key)
        merged = tuple(sorted({*uses, *(known.uses if known else ())}))
        out[key] = Found(known.name if known else name, pattern.pattern, getattr(pattern, "flags", 0), merged, pattern)

    trees = {module: ast.parse(inspect.getsource(module)) for module in modules()}
    used = uses_of(trees)
    for module, tree in trees.items():
        short = module.__name__.removeprefix("ingestion.")
        others = used_by_others(tree)
        for name, value in vars(module).items():
            for pattern in patterns_in(value):
                add(f"{short}.{name}", pattern, used.get(id(value)) or others or {"match"})
        for method, pattern, line in written_where_used(module, tree):
            add(f"{short}:{line}", pattern, {method})
    for name, pattern, uses in of_the_catalogue():
        add(name, pattern, uses)
    return list(out.values())


def of_the_catalogue() -> Iterator[tuple[str, Any, set[str]]]:
    """Patterns that are made from the files of the catalogue."""
    known = catalogue()
    for form in (*known.contexts, *known.forms, *known.exceptions):
        yield f"form {form.event}:{form.at_line}", form.pattern, {"match"}
        for pick in form.picks.values():
            yield f"pick {form.event}", pick, {"findall"}
    for secret in redact.secrets():
        yield f"secrets.yml {secret.name}", secret.pattern, {"finditer"}
    yield "secret_options.yml tools", redact.tools().command, {"finditer"}
    for tool, patterns_of_tool in redact.tools().options.items():
        for pattern in patterns_of_tool:
            yield f"secret_options.yml {tool.decode()}", pattern, {"finditer"}
    for name, wrapper in unwrap.wrappers().items():
        if not isinstance(wrapper, dict):
            yield f"wrappers.yml {name}", wrapper, {"match"}
    for layout in (*envelopes(), REWRITTEN):
        yield f"envelopes.yml {layout.name} head", layout.head, {"match"}
        if layout.tail is not None:
            yield f"envelopes.yml {layout.name} tail", layout.tail, {"search"}
    for layout in framing.patterns():
        yield f"envelopes.yml {layout.name}", layout.matcher, {"match"}
    for text in ("%d %-5p [%t] %c{1}:%L - %m%n", "[%d] %p %X %m (%c)%n", "%d{HH:mm:ss} %F %l %x [%t] %m (%c) [%M]%n"):
        yield f"--pattern {text}", patterns.compile_pattern(text).matcher, {"match"}
    for bundle in archives.known_bundles():
        for pattern in (*bundle.markers, *bundle.clusters, *bundle.layouts):
            yield f"bundles.yml {bundle.name}", pattern, {"match"}
    yield "--layout", Layout("{cluster}/**/{node}/*/**").pattern, {"match"}
    for pattern in patterns_in(vars(_metrics.names()) if hasattr(_metrics, "names") else ()):
        yield "metrics.yml", pattern, {"match", "fullmatch"}


def patterns_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """The compiled patterns in a value, its items and its attributes."""
    if isinstance(value, (re.Pattern, linear.ForLines)) or is_re2(value):
        yield value
    elif depth < 4:
        if isinstance(value, dict):
            parts: Iterable[Any] = [*value.keys(), *value.values()]
        elif isinstance(value, (list, tuple, set, frozenset)):
            parts = value
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            parts = vars(value).values() if hasattr(value, "__dict__") else ()
        elif inspect.ismethod(value) or type(value).__name__ == "builtin_function_or_method":
            parts = (getattr(value, "__self__", None),)
        else:
            parts = ()
        for part in parts:
            yield from patterns_in(part, depth + 1)


def is_re2(value: Any) -> bool:
    """Whether it is a pattern of RE2, which is always linear."""
    return isinstance(value, linear.Pattern)


def uses_of(trees: dict[ModuleType, ast.Module]) -> dict[int, set[str]]:
    """Identity of a module's pattern → the methods that are called or passed on anywhere; all methods if the pattern itself is passed on."""
    out: dict[int, set[str]] = {}
    for module, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                out.setdefault(id(value_of(module, node.value)), set()).add(node.attr)
            if isinstance(node, ast.Call):
                for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                    value = value_of(module, argument)
                    if isinstance(value, (re.Pattern, linear.ForLines)):
                        out.setdefault(id(value), set()).update(("match", "search"))
    return out


def value_of(module: ModuleType, node: ast.expr) -> object:
    """The value of a name in the module, or in a module that it imports; None for anything else."""
    if isinstance(node, ast.Name):
        return vars(module).get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return getattr(vars(module).get(node.value.id), node.attr, None)
    return None


def used_by_others(tree: ast.AST) -> set[str]:
    """The methods that a module calls on patterns without a name of their own, taken out of lists and tables."""
    out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            if not name.isupper() and name != "re":
                out.add(node.attr)
    return out - {"split"}


def written_where_used(module: ModuleType, tree: ast.AST) -> Iterator[tuple[str, re.Pattern[Any], int]]:
    """(method, pattern, line) of `re.match("…", text)` and similar calls whose expression is a constant."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in (*METHODS, "compile")
        ):
            flags = [ast.unparse(part) for part in node.args if ast.unparse(part).startswith("re.")]
            flags += [ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "flags"]
            try:
                text = eval(ast.unparse(node.args[0]), vars(module))
                pattern = re.compile(text, eval("|".join(flags) or "0"))
            except NameError:
                continue
            method = "search" if node.func.attr == "compile" else node.func.attr
            if node.func.attr != "compile" or node.col_offset > 30:
                yield method, pattern, node.lineno


def took(pattern: Any, use: str, text: str | bytes, runs: int = 1, clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that one of a pattern's methods takes for a text, the best of some runs."""
    best = 1e9
    for _ in range(runs):
        began = clock()
        if use == "sub":
            pattern.sub(text[:0], text)
        elif use == "finditer":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, use)(text)
        best = min(best, clock() - began)
    return best


# --- texts ---------------------------------------------------------------------------------------------------------------------------------

CHARACTERS = "".join(map(chr, (*range(32, 127), 9, 10, 13, 0xE9, 0xA0, 2)))
LIKED = 'a0A x-./:,"=[({|<_\\\t\n'
Set = frozenset


class Tree:
    """The parse tree of a pattern, from which its texts are made."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        if isinstance(text, bytes):
            text, flags = text.decode("latin-1"), flags & ~re.A
        self.parsed = parser.parse(text, flags & ~re.U | (re.U if not flags & re.A else 0))
        self.flags = self.parsed.state.flags
        self.places: list[tuple[str, list[Any], list[Any]]] = []
        self.sets: list[frozenset[str]] = []
        self.groups: dict[int, str] = {}
        self.walk(list(self.parsed), "")

    def one(self, op: Any, value: Any) -> frozenset[str] | None:
        """The characters that a single-character node matches; None for other nodes."""
        name = str(op)
        fold = bool(self.flags & re.I)
        if name == "LITERAL":
            return frozenset({chr(value), chr(value).swapcase()} if fold else {chr(value)})
        if name == "NOT_LITERAL":
            return frozenset(CHARACTERS) - {chr(value)}
        if name == "ANY":
            return frozenset(CHARACTERS) - (set() if self.flags & re.S else {"\n"})
        if name == "IN":
            out: set[str] = set()
            negated = False
            for kind, what in value:
                kind = str(kind)
                if kind == "NEGATE":
                    negated = True
                elif kind == "LITERAL":
                    out.add(chr(what))
                elif kind == "RANGE":
                    out |= {c for c in CHARACTERS if what[0] <= ord(c) <= what[1]} | {chr(what[0])}
                elif kind == "CATEGORY":
                    out |= {c for c in CHARACTERS if CATEGORIES[str(what)](c)}
            if fold:
                out |= {c.swapcase() for c in out}
            return frozenset(CHARACTERS) - out if negated else frozenset(out)
        return None

    def sample(self, nodes: Iterable[Any]) -> str:
        """A text that the nodes match, as short as possible."""
        out = ""
        for op, value in nodes:
            name = str(op)
            single = self.one(op, value)
            if single is not None:
                out += liked(single)
            elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                out += self.sample(value[2]) * value[0]
            elif name == "SUBPATTERN":
                inner = self.sample(value[3])
                if value[0]:
                    self.groups[value[0]] = inner
                out += inner
            elif name == "ATOMIC_GROUP":
                out += self.sample(value)
            elif name == "BRANCH":
                out += self.sample(value[1][0])
            elif name == "GROUPREF":
                out += self.groups.get(value, "")
            elif name == "GROUPREF_EXISTS":
                out += self.sample(value[1])
        return out

    def walk(self, nodes: list[Any], before: str) -> str:
        """Note each repeat with a text that leads to it and the nodes that follow; returns a text that leads to the end."""
        for n, (op, value) in enumerate(nodes):
            name = str(op)
            single = self.one(op, value)
            if single is not None:
                if name == "IN" or len(single) > 2:
                    self.sets.append(single)
                before += liked(single)
            elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                self.places.append((before, list(value[2]), nodes[n + 1 :]))
                self.walk(list(value[2]), before)
                before += self.sample(value[2]) * value[0]
            elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
                inner = list(value[3] if name == "SUBPATTERN" else value)
                before = self.walk_in(inner, nodes[n + 1 :], before)
            elif name == "BRANCH":
                starts = [self.walk_in(list(branch), nodes[n + 1 :], before) for branch in value[1]]
                before = starts[0]
            elif name in ("ASSERT", "ASSERT_NOT"):
                if value[0] < 0:
                    before += self.sample(value[1]) if name == "ASSERT" and not before.endswith(self.sample(value[1])) else ""
                else:
                    self.walk_in(list(value[1]), [], before)
            elif name == "GROUPREF_EXISTS":
                before = self.walk_in(list(value[1]), nodes[n + 1 :], before)
            elif name == "GROUPREF":
                before += self.groups.get(value, "")
        return before

    def walk_in(self, inner: list[Any], after: list[Any], before: str) -> str:
        known = len(self.places)
        end = self.walk(inner, before)
        # The nodes after the group also follow its last repeat.
        self.places[known:] = [(lead, body, [*rest, *after]) for lead, body, rest in self.places[known:]]
        self.sample(inner)
        return end

    def pumps(self, body: list[Any], after: list[Any]) -> list[str]:
        """The texts to repeat: each kind of character that the repeat matches, its body, and its body with the nodes up to the next repeat."""
        words: list[str] = []
        single = self.one(*body[0]) if len(body) == 1 else None
        own = single if single is not None else None
        if own is None:
            classes = [found for op, value in leaves(body) if (found := self.one(op, value)) is not None]
            own = frozenset().union(*classes) if classes else frozenset()
            words.append(self.sample(body) or liked(own))
        kinds: dict[tuple[bool, ...], str] = {}
        for character in sorted(own, key=lambda c: LIKED.find(c) if c in LIKED else 99):
            kinds.setdefault(tuple(character in known for known in self.sets), character)
        words += list(kinds.values())[:7]
        some = liked(own)
        reach = after[: next((n + 1 for n, (op, _) in enumerate(after) if "REPEAT" in str(op)), len(after))]
        literal = self.sample(after[: len(reach) - 1]) if len(reach) < len(after) or reach else ""
        following = self.sample(reach)
        whole = self.sample(after)
        words += [literal, following, some + literal, following + some, whole, whole + some]
        return list(dict.fromkeys(word for word in words if word))

    def texts(self, size: int, searched: bool) -> Iterator[str]:
        """Texts of about one length."""
        seen = set()
        for before, body, after in self.places:
            for word in self.pumps(body, after):
                tails = ("\x02", "\n\x02", "")
                starts = [(before, word)]
                if searched and before:
                    starts.append(("", before + word))
                for start, again in starts:
                    key = (start, again)
                    if key in seen:
                        continue
                    seen.add(key)
                    middle = start + again * (max(1, size - len(start)) // len(again) + 1)
                    for tail in tails:
                        yield middle + tail


CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_NOT_DIGIT": lambda c: not c.isdigit(),
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_NOT_SPACE": lambda c: not c.isspace(),
    "CATEGORY_WORD": lambda c: c.isalnum() or c == "_",
    "CATEGORY_NOT_WORD": lambda c: not (c.isalnum() or c == "_"),
}


def liked(characters: frozenset[str]) -> str:
    """One of some characters, preferably a plain one."""
    return next((c for c in LIKED if c in characters), None) or min(characters, default="")


def leaves(nodes: Iterable[Any]) -> Iterator[Any]:
    """The single-character nodes below some nodes."""
    for op, value in nodes:
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield from leaves(value[2])
        elif name == "SUBPATTERN":
            yield from leaves(value[3])
        elif name == "ATOMIC_GROUP":
            yield from leaves(value)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from leaves(branch)
        else:
            yield op, value
