"""Column lineage: which columns of upstream tables a model's rows depend on, from the text of its query and of the views that it reads.

A partial build skips a model whose upstream tables differ only in columns that it does not read.  sqlglot finds the columns; where it cannot,
for example because a table's columns are not known, the query counts as reading all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.pushdown_projections import pushdown_projections
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from chronicle.build.needs import dotted

# By table the columns that a query reads; None: all.
Columns = dict[str, frozenset[str] | None]
DIALECT = "spark"
# Which columns are read does not depend on their types.
ANY = "string"


@dataclass(frozen=True)
class Reads:
    """Finds the columns that queries read.  `tables`: the model or table of bronze by its name in SQL; `columns`: those of stored tables, where
    they are known; `views`: the query of each view.

    Views have to come after the views that they read.
    """

    tables: Mapping[str, str]
    columns: Mapping[str, Iterable[str]]
    views: Mapping[str, str]
    _trees: dict[str, exp.Query] = field(default_factory=dict)
    _schema: MappingSchema = field(default_factory=lambda: MappingSchema(dialect=DIALECT))
    _found: dict[tuple[str, frozenset[str] | None], Columns] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, columns in self.columns.items():
            self._know(name, columns)
        for name, sql in self.views.items():
            self._trees[name] = self._tree(sql)
            self._know(name, self._given(self._trees[name]))

    def beneath(self, sql: str) -> Columns:
        """The columns of stored tables and tables of bronze that a query's rows depend on, directly or through views."""
        return self._through(self._direct(self._tree(sql)))

    def _know(self, name: str, columns: Iterable[str]) -> None:
        if known := dict.fromkeys(columns, ANY):
            self._schema.add_table(exp.to_table(quoted(name), dialect=DIALECT), known, dialect=DIALECT)

    def _tree(self, sql: str) -> exp.Query:
        """A parsed query, with its tables renamed to models."""
        tree = parse_one(sql, dialect=DIALECT)
        assert isinstance(tree, exp.Query)
        for table in tree.find_all(exp.Table):
            if name := self.tables.get(dotted(table)):
                alias = table.alias_or_name
                table.replace(exp.alias_(exp.to_table(quoted(name), dialect=DIALECT), alias, table=True))
        return tree

    def _given(self, tree: exp.Query) -> list[str]:
        """The output columns of a query; none if they are not known."""
        with suppress(SqlglotError):
            tree = self._qualified(tree)
        return [] if tree.is_star else tree.named_selects

    def _qualified(self, tree: exp.Query) -> exp.Query:
        """A query in which every column is qualified with its table."""
        found = qualify(tree.copy(), dialect=DIALECT, schema=self._schema, quote_identifiers=False, identify=False)
        assert isinstance(found, exp.Query)
        return found

    def _direct(self, tree: exp.Query) -> Columns:
        """The columns of tables and views that a query reads directly."""
        try:
            tree = self._qualified(tree)
            for join in tree.find_all(exp.Join):
                if join.kind in ("SEMI", "ANTI"):
                    # sqlglot would keep all columns of the joined side; only those in the condition are read.
                    join.set("kind", None)
            tree = pushdown_projections(tree)
        except SqlglotError:
            return dict.fromkeys(self._named(tree))
        found: dict[str, set[str]] = {name: set() for name in self._named(tree)}
        for scope in traverse_scope(tree):
            for column in scope.columns:
                source = scope.sources.get(column.table)
                if isinstance(source, exp.Table) and source.name in found:
                    found[source.name].add(column.name)
        return {name: frozenset(columns) for name, columns in found.items()}

    def _named(self, tree: exp.Query) -> set[str]:
        """The tables and views of the project that a query names."""
        return {table.name for table in tree.find_all(exp.Table)}.intersection(self.tables.values())

    def _through(self, direct: Columns) -> Columns:
        """Replace the columns of views by the columns of the tables beneath."""
        found: Columns = {}
        for name, columns in direct.items():
            add(found, self._of_view(name, columns) if name in self._trees else {name: columns})
        return found

    def _of_view(self, name: str, columns: frozenset[str] | None) -> Columns:
        """The columns of tables that some columns of a view depend on (None: all of its columns)."""
        if (name, columns) not in self._found:
            tree = self._trees[name]
            if columns is not None:
                # A query that reads no column depends on how many rows there are.
                asked: list[exp.Expr] = [exp.column(column) for column in sorted(columns)]
                asked = asked or [exp.Literal.number(1)]
                tree = exp.select(*asked).from_(tree.subquery(f"rows_of_{name}"))
            self._found[name, columns] = self._through(self._direct(tree))
        return self._found[name, columns]


def add(found: Columns, more: Columns) -> None:
    """Merge more columns into those found."""
    for name, columns in more.items():
        before = found.get(name, frozenset())
        found[name] = None if before is None or columns is None else before | columns


def quoted(name: str) -> str:
    """A name as one identifier, though it may contain a dot."""
    return f"`{name}`"
