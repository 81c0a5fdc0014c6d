"""Series as Prometheus writes them: `name{label="value", …}`, with escapes and quoted names, in either order."""

from __future__ import annotations

import re
from functools import lru_cache

from ingestion.captures.metrics._metrics import Metric, of_series

LABELS = r'\{(?:[^"{}]++|"(?:[^"\\]++|\\.)*+")*+\}'
"""The end of labels is certain: braces within quotes are part of a value."""
NUMBER = r"[+-]?(?:[0-9.][0-9.eE+\-]*+|[Ii]nf(?:inity)?|[Nn]a[Nn])"
TEXT = r'"((?:[^"\\]++|\\.)*+)"'
LABEL = re.compile(rf"\s*+(?:([a-zA-Z_][\w.]*+)|{TEXT})\s*+(?:=\s*+{TEXT})?+\s*+(?:,|$)")
ESCAPE = re.compile(r"\\(.)")


def labels_of(text: str) -> dict[str, str] | None:
    """The labels between braces; a quoted name without a value is the metric's.  None if the text has no such form."""
    inner = text[1:-1].strip()
    out: dict[str, str] = {}
    at = 0
    while at < len(inner):
        match = LABEL.match(inner, at)
        if match is None:
            return None
        if match[3] is not None:
            out[match[1] or unescaped(match[2])] = unescaped(match[3])
        elif match[2] is not None:
            out["__name__"] = unescaped(match[2])
        else:
            return None
        at = match.end()
    return out


def unescaped(text: str) -> str:
    """A label's value: backslash, quote and line break are escaped."""
    return ESCAPE.sub(lambda match: "\n" if match[1] == "n" else match[1], text) if "\\" in text else text


@lru_cache(maxsize=16384)
def metric_of(name: str, labels: str, bean: str) -> Metric | None:
    """The metric of a series as it is printed; None if its labels are torn.  A history has one series many times on end."""
    found = labels_of(labels) if labels else {}
    if found is None:
        return None
    name = found.pop("__name__", "") or name
    return of_series(name, found, bean) if name else None
