"""`chronicle catalogue check`: checks every form against its own line and against all the others."""

from __future__ import annotations

import re

from ingestion.recognition.forms import MARK, Form
from ingestion.recognition.recognise import Catalogue, spans_of, value_of


def own_values(form: Form) -> dict[str, str] | None:
    """What the form extracts from its own example; None if it does not even fit."""
    example = form.example.encode()
    found = spans_of(form, example)
    if found is None:
        return None
    return {span.name: value_of(form, span, example).decode() for span in found.spans}


def promised_values(form: Form, catalogue: Catalogue) -> dict[str, str]:
    """The values that the marks promise: of a picked field its parts, of a compound mark its parts by name."""
    promised: dict[str, str] = {}
    for mark in MARK.finditer(form.text):
        token = catalogue.vocabulary.token_of(mark[1])
        assert token is not None
        if token.parts and token.pick:
            (name,) = token.parts
            promised[name] = ",".join(value.decode() for value in form.picks[name].findall(mark[2].encode()))
        elif token.parts:
            whole = re.fullmatch(token.pattern, mark[2], re.S)
            assert whole is not None
            promised |= {name: part for name, part in zip(token.parts, whole.groups(), strict=True) if part is not None}
        else:
            promised[mark[1]] = mark[2]
    return promised


def reach(form: Form, text: str) -> int:
    """How many characters of a line the form's wording matches, mark by mark: shows where a near miss went wrong."""
    at = 0
    for piece in MARK.split(form.text)[::3]:
        found = text.find(piece.split("…")[0], at)
        if found < 0:
            return at
        at = found + len(piece.split("…")[0])
    return at


def problems(catalogue: Catalogue) -> list[str]:
    """All faults as 'file:line: what was found; what to write'.  Empty if the catalogue is sound."""
    out = []
    seen: dict[tuple[str, tuple[str, ...]], Form] = {}
    for form in catalogue.forms + catalogue.contexts + catalogue.exceptions:
        where = f"{form.path}:{form.at_line}: {form.event}"
        values = own_values(form)
        if values is None:
            stop = reach(form, form.example)
            out.append(
                f"{where}: its own line does not match after '{form.example[max(0, stop - 30) : stop]}'; check the text next to the marks"
            )
            continue
        promised = promised_values(form, catalogue)
        wrong = {name: (promised[name], values.get(name)) for name in promised if promised[name] != values.get(name)}
        for name, (marked, got) in wrong.items():
            out.append(
                f"{where}: '{name}' is marked '{marked}' and extracts '{got}'; separate the marks with fixed text or choose a stricter token"
            )
        twin = seen.get((form.text, form.loggers))
        if twin:
            out.append(f"{where}: the same line as {twin.path}:{twin.at_line}; keep one and widen its since/until")
        seen[form.text, form.loggers] = form
    for form in catalogue.forms:
        logger = form.loggers[0].encode() if form.loggers else None
        found = catalogue.recognise(logger, form.example.encode())
        if found is not None and found.form is not form and (found.form.event != form.event or own_values(form) is None):
            other = found.form
            out.append(
                f"{form.path}:{form.at_line}: {form.event}: its line is taken by '{other.event}' ({other.path}:{other.at_line}); make one of them more exact"
            )
    homes: dict[str, Form] = {}
    for form in catalogue.forms:
        home = homes.setdefault(form.event, form)
        if home.path != form.path:
            out.append(f"{form.path}:{form.at_line}: {form.event}: it is also in {home.path}:{home.at_line}; put its forms into one entry")
            homes[form.event] = form
    given = {role for form in catalogue.forms for role in form.roles}
    out += [
        f"{catalogue.folder / 'roles.yml'}: role '{role}' is of no event; delete it"
        for role in catalogue.vocabulary.roles
        if role not in given
    ]
    used = {mark[1] for form in catalogue.forms + catalogue.contexts + catalogue.exceptions for mark in MARK.finditer(form.text)}
    used |= {part for name in used for part in catalogue.vocabulary.tokens[catalogue.vocabulary.fields[name]["token"]].parts}
    for name, entry in catalogue.vocabulary.fields.items():
        if name not in used:
            out.append(f"{catalogue.folder / 'fields.yml'}:{entry['__line__']}: field '{name}' is used by no form; delete it")
    return out


if __name__ == "__main__":
    faults = problems(Catalogue())
    print("\n".join(faults) or "ok")
    raise SystemExit(bool(faults))
