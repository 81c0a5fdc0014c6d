"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Annotated

import typer

from chronicle.spark import master as masters
from chronicle.spark.engine import ENGINE

WarehouseOption = Annotated[
    str, typer.Option("--warehouse", "-w", envvar="CHRONICLE_WAREHOUSE", help="Folder or URI of the warehouse.", metavar="DIR|URI")
]

MemoryOption = Annotated[str, typer.Option("--memory", envvar="CHRONICLE_MEMORY", help="Heap size of the JVM, such as 2g.", metavar="SIZE")]


def _into(variable: str) -> Callable[[str | None], str | None]:
    """A callback that puts an option into the environment, where sessions and builds read it, including those of child processes."""

    def put(given: str | None) -> str | None:
        if given:
            os.environ[variable] = given
        return given

    return put


MasterOption = Annotated[
    str | None,
    typer.Option(
        "--master",
        envvar=masters.MASTER,
        help="Which Spark works: local[N], spark://HOST:PORT, k8s://…, yarn or sc://HOST:PORT; default: all cores of this machine.",
        metavar="MASTER",
        callback=_into(masters.MASTER),
        expose_value=False,
    ),
]


EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        envvar=ENGINE,
        help="Who builds: local, fast on one machine, or plain, dbt on any Spark; default: local on this machine's cores, else plain.",
        metavar="ENGINE",
        callback=_into(ENGINE),
        expose_value=False,
    ),
]

DEFAULT_WAREHOUSE, DEFAULT_MEMORY = "./warehouse", "2g"

PathsArgument = Annotated[
    list[str], typer.Argument(help="Folders, files or archives, - for standard input; gzip is fine.", metavar="PATH…")
]
ClusterOption = Annotated[str | None, typer.Option(help="Name of the cluster; default: from --layout, else the folder's name.")]
NodeOption = Annotated[int | None, typer.Option(help="Id of the node that wrote the files, if their content does not say.")]
LayoutOption = Annotated[
    str | None, typer.Option(help="Meaning of the parts of a path: '{cluster}/{node}/**', '**/{kind}-broker-{node}.txt'.")
]
TimezoneOption = Annotated[
    str | None, typer.Option(help="Time zone of the logs, a name or +05:30; default: from evidence in the logs, else UTC.")
]
PatternOption = Annotated[
    str | None, typer.Option(help="log4j pattern of the logs, if their layout is not recognised: '[%d{ISO8601}] %p %m (%c)%n'.")
]
SettledOption = Annotated[
    float,
    typer.Option("--settled-after", help="Seconds without change after which a file of a folder counts as complete.", metavar="SECONDS"),
]
