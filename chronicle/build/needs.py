"""Which tables must have rows so that a query can have rows, and which of their rows it reads, from its text alone.

A build asks this before it runs a model: one that cannot have rows is written empty, with the columns of its contract, and Spark sees neither
the model nor the views that it reads.  Where the text does not tell, a query may have rows.

A need is JSON: true (may have rows whatever it reads), false (has none), the name of a model or of a table of bronze, `[name, [value, …]]` (it
must have a row with one of these values in the column that its `known_values` name), `["and", …]` or `["or", …]` of needs.

A query may filter a table with `known_values` for some of the values.  A partial build uses this, too: where only rows with other values differ,
the query's result does not.  Where the text does not tell, a query reads all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp, parse_one

# bool | str | list: mypy has no JSON.
Need = Any
# By table with `known_values`, the values whose rows a query reads; None: all.
Reads = dict[str, list[str] | None]
# Whether a model or a table of bronze has rows; where values are given, whether it has rows with one of them.
HasRows = Callable[[str, list[str] | None], bool]


def is_met(need: Need, has_rows: HasRows) -> bool:
    """Whether a query may have rows."""
    if isinstance(need, bool):
        return need
    if isinstance(need, str):
        return has_rows(need, None)
    word, *parts = need
    if word == "and":
        return all(is_met(part, has_rows) for part in parts)
    if word == "or":
        return any(is_met(part, has_rows) for part in parts)
    return has_rows(word, parts[0])


@dataclass(frozen=True)
class Relation:
    """The input or output of a query: its need; `known`: the column with known values, if it is passed through as it is; `is_read`: whether its
    rows are noted as read, which is left to the queries around it as long as they may filter them."""

    need: Need
    known: str | None = None
    is_read: bool = False

    def where(self, column: str, values: set[str]) -> Relation:
        """Its rows with one of these values in a column."""
        if column != self.known:
            return self
        if isinstance(self.need, str):
            return replace(self, need=[self.need, sorted(values)])
        left = sorted(values.intersection(self.need[1]))
        return replace(self, need=[self.need[0], left]) if left else Relation(False)


@dataclass(frozen=True)
class Needs:
    """Finds needs.  `tables`: the model or table of bronze by its name in SQL; `known`: the column with known values, by model."""

    tables: Mapping[str, str]
    known: Mapping[str, str]

    def of(self, sql: str) -> Need:
        """What a query of Spark SQL needs.  Raises sqlglot.errors.SqlglotError where it cannot be parsed."""
        return Text(self.tables, self.known).query(parse_one(sql, dialect="spark"), {}).need

    def reads(self, sql: str) -> Reads:
        """Which rows a query of Spark SQL reads of tables with known values.  Raises sqlglot.errors.SqlglotError where it cannot be parsed."""
        text, tree = Text(self.tables, self.known), parse_one(sql, dialect="spark")
        text.read(text.query(tree, {}))
        for table in tree.find_all(exp.Table):
            name = self.tables.get(dotted(table))
            if name and name in self.known and id(table) not in text.seen:
                text.found[name] = None
        return {name: None if values is None else sorted(values) for name, values in text.found.items()}


@dataclass(frozen=True)
class Text:
    """Walks through a query.  `seen`: the tables that were met; `found`: by table the values whose rows are read (None: all)."""

    tables: Mapping[str, str]
    known: Mapping[str, str]
    seen: set[int] = field(default_factory=set)
    found: dict[str, set[str] | None] = field(default_factory=dict)

    def read(self, relation: Relation) -> Need:
        """Note that the remaining rows of a relation are read.  Returns its need."""
        if relation.known and not relation.is_read:
            name, values = (relation.need, None) if isinstance(relation.need, str) else (relation.need[0], set(relation.need[1]))
            before = self.found.get(name, set())
            self.found[name] = None if values is None or before is None else before | values
        return relation.need

    def query(self, node: exp.Expr, outer: Mapping[str, Relation]) -> Relation:
        names = dict(outer)
        if given := node.args.get("with_"):
            for cte in given.expressions:
                rows = cte.this
                while given.args.get("recursive") and isinstance(rows, exp.SetOperation):
                    # A recursive query only adds to its first rows, and needs those.
                    rows = rows.this
                found = self.query(rows, names)
                names[cte.alias] = found if rows is cte.this else Relation(self.read(found))
        if isinstance(node, exp.Select):
            return self._select(node, names)
        if isinstance(node, exp.Subquery):
            return self._relation(node, names)
        if isinstance(node, exp.SetOperation):
            left, right = self.read(self.query(node.this, names)), self.read(self.query(node.expression, names))
            if isinstance(node, exp.Union):
                return Relation(either(left, right))
            return Relation(left if isinstance(node, exp.Except) else both(left, right))
        return Relation(True)

    def _relation(self, node: exp.Expr, names: Mapping[str, Relation]) -> Relation:
        """A table or subquery in a FROM or JOIN."""
        if node.args.get("pivots") or node.args.get("joins"):
            return Relation(True)
        if isinstance(node, exp.Subquery):
            return self.query(node.this, names)
        if isinstance(node, exp.Table):
            name = dotted(node)
            if name in names:
                return names[name]
            if name in self.tables:
                self.seen.add(id(node))
                return Relation(self.tables[name], self.known.get(self.tables[name]))
        return Relation(True)

    def _select(self, node: exp.Select, names: Mapping[str, Relation]) -> Relation:
        if "from_" not in node.args or not node.args["from_"]:
            return Relation(True)
        tables = [node.args["from_"].this, *(join.this for join in node.args.get("joins") or ())]
        found = [self._relation(table, names) for table in tables]
        conditions = list(conjuncts(node.args["where"].this)) if node.args.get("where") else []
        for condition in conditions:
            for number, table in enumerate(tables):
                found[number] = chosen(found[number], condition, table.alias_or_name, is_alone=len(tables) == 1)
        for number, join in enumerate(node.args.get("joins") or (), 1):
            found[number] = joined_by(found[number], join)
        is_passed = len(tables) == 1 and passes_on(node, found[0].known)
        if not is_passed or does_more(node):
            for number, relation in enumerate(found):
                self.read(relation)
                found[number] = replace(relation, is_read=True)
        need = found[0].need
        for join, right in zip(node.args.get("joins") or (), found[1:], strict=True):
            need = joined(need, join, right)
        for condition in conditions:
            need = both(need, self._asked(condition, names))
        if is_summed_up(node):
            return Relation(True)
        if is_passed and need == found[0].need:
            return found[0]
        self.read(found[0])
        return Relation(need)

    def _asked(self, condition: exp.Expr, names: Mapping[str, Relation]) -> Need:
        """What a condition needs besides the rows that it filters."""
        if isinstance(condition, exp.Boolean):
            return bool(condition.this)
        if isinstance(condition, exp.Exists):
            return self.read(self.query(condition.this, names))
        if isinstance(condition, exp.In) and condition.args.get("query"):
            return self.read(self.query(condition.args["query"], names))
        return True


def both(*needs: Need) -> Need:
    """Needs that must all be met."""
    return _combined("and", needs, nothing=True, all_else=False)


def either(*needs: Need) -> Need:
    """Needs of which one must be met."""
    return _combined("or", needs, nothing=False, all_else=True)


def _combined(word: str, needs: tuple[Need, ...], *, nothing: bool, all_else: bool) -> Need:
    parts: list[Need] = []
    for need in needs:
        for part in need[1:] if isinstance(need, list) and need[0] == word else [need]:
            if part is all_else:
                return all_else
            if part is not nothing and part not in parts:
                parts.append(part)
    return [word, *parts] if len(parts) > 1 else parts[0] if parts else nothing


def joined(left: Need, join: exp.Join, right: Relation) -> Need:
    """What the rows of a join need."""
    side, kind = join.side.upper(), join.kind.upper()
    if kind == "ANTI" or (side == "LEFT" and kind != "SEMI"):
        return left
    if side == "RIGHT":
        return right.need
    if side == "FULL":
        return either(left, right.need)
    return both(left, right.need)


def joined_by(right: Relation, join: exp.Join) -> Relation:
    """The rows of the right side of a join that can match."""
    if join.side.upper() in ("", "LEFT"):
        for condition in conjuncts(join.args["on"]) if join.args.get("on") else ():
            right = chosen(right, condition, join.this.alias_or_name, is_alone=False)
    return right


def dotted(table: exp.Table) -> str:
    """A table's name as it is written."""
    return ".".join(part.name for part in table.parts)


def does_more(node: exp.Select) -> bool:
    """Whether a row of the query's result may depend on more than one row that it reads."""
    if any(node.args.get(name) for name in ("distinct", "limit", "offset", "qualify", "having", "sample")):
        return True
    return any(one.find(exp.Window, exp.Query) for one in node.expressions)


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that all must hold."""
    condition = condition.unnest()
    return [part for side in condition.flatten() for part in conjuncts(side)] if isinstance(condition, exp.And) else [condition]


def chosen(relation: Relation, condition: exp.Expr, name: str, *, is_alone: bool) -> Relation:
    """The rows of a relation for which a condition can hold.  `is_alone`: unqualified columns are its own."""
    if relation.known is None:
        return relation
    values = values_of(condition, relation.known, {name, ""} if is_alone else {name})
    return relation if values is None else relation.where(relation.known, values)


def values_of(condition: exp.Expr, column: str, names: set[str]) -> set[str] | None:
    """The texts one of which a column must have for a condition to hold; None if they are not known."""

    def is_it(node: exp.Expr) -> bool:
        return isinstance(node, exp.Column) and node.name == column and node.table in names

    condition = condition.unnest()
    if isinstance(condition, exp.EQ) and is_it(condition.this) and condition.expression.is_string:
        return {condition.expression.this}
    if isinstance(condition, exp.In) and is_it(condition.this) and condition.expressions:
        return {part.this for part in condition.expressions} if all(part.is_string for part in condition.expressions) else None
    if isinstance(condition, exp.Or):
        sides = [values_of(part, column, names) for part in condition.flatten()]
        return None if None in sides else set().union(*(side for side in sides if side is not None))
    if isinstance(condition, exp.And):
        known = [found for found in (values_of(part, column, names) for part in conjuncts(condition)) if found is not None]
        return set.intersection(*known) if known else None
    return None


def is_summed_up(node: exp.Select) -> bool:
    """Whether a query may return a row without having read one, as `count(*)` does.  One that selects a column outside of functions cannot,
    unless it has grouping sets."""
    if (group := node.args.get("group")) and group.expressions:
        return bool(group.find(exp.Rollup, exp.Cube, exp.GroupingSets))
    named = {one.alias for one in node.expressions if isinstance(one, exp.Alias)}
    parts = [part for one in node.expressions for part in one.walk(prune=lambda part: isinstance(part, exp.Func | exp.Query))]
    if any(one.is_star for one in node.expressions) or not any(isinstance(part, exp.Func | exp.Query) for part in parts):
        return False
    # An unqualified name may be that of an aggregate beside it.
    return not any(isinstance(part, exp.Column) and (part.table or part.name not in named) for part in parts)


def passes_on(node: exp.Select, column: str | None) -> bool:
    """Whether a query of one relation passes a column through as it is."""
    if column is None or node.args.get("group") or node.args.get("laterals"):
        return False
    given = [one for one in node.expressions if one.alias_or_name == column]
    return (
        all(isinstance(one, exp.Column) and one.name == column for one in given)
        if given
        else any(
            isinstance(one, exp.Star) and not any(one.args.get(word) for word in ("except_", "replace", "rename"))
            for one in node.expressions
        )
    )
