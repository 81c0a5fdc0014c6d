"""`--layout`: what the parts of a path mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ingestion.reading import linear
from ingestion.records.clues import node_number
from ingestion.sources.archives import compile_layout


@dataclass
class Layout:
    """`--layout '{cluster}/{node}/**'`: what the parts of a path mean, seen from the path that was given.

    `{node}` as a folder of its own is the number in its name (`broker-12`); within a name (`{kind}-broker-{node}.txt`) it is digits.
    """

    text: str
    pattern: linear.ForLines = field(init=False)

    def __post_init__(self) -> None:
        if not re.search(r"\{(cluster|node|host)\}", self.text):
            raise ValueError(f"layout '{self.text}' names neither {{cluster}} nor {{node}}; write for example '{{cluster}}/{{node}}/**'")
        unknown = [name for name in re.findall(r"\{([^{}]*)\}", self.text) if name not in ("cluster", "node", "host", "kind", "time")]
        if unknown:
            raise ValueError(
                f"layout '{self.text}': {{{unknown[0]}}} is not known; there are {{cluster}}, {{node}}, {{host}}, {{kind}} and {{time}}"
            )
        self.pattern = compile_layout(re.sub(r"(?<![^/])\{node\}(?![^/])", "{numbered}", self.text))

    @property
    def names_files(self) -> bool:
        """Whether it reads the node out of a file's own name."""
        return "{node}" in self.text.rsplit("/", 1)[-1]

    def read(self, relative: str) -> tuple[str | None, int | None]:
        """(cluster, node) of a path relative to the folder that was given."""
        parts = self.parts(relative)
        return parts.get("cluster"), node_number(parts.get("node"))

    def parts(self, relative: str) -> dict[str, str | None]:
        """What each placeholder stands for in a path; nothing if the layout does not fit."""
        match = self.pattern.match(relative)
        return match.groupdict() if match else {}
