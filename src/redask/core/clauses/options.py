"""The same clauses as JSON or keyword arguments: `from_options` reads them into an Ask.

`question` is a non-blank text, kept as it is; `options` is an object whose keys are the
rows' options. Unknown keys, wrong types, values out of range, empty strings, null for the
options, and `cache` with `nocache: true` are refused with a `BadAsk` that names the path
(`options.cache.ttl`), also as its `detail`. `where` is what the path starts with.
"""

from collections.abc import Mapping
from typing import NoReturn

from redask.core.clauses.definitions import OPTIONS, Clause
from redask.core.errors import BadAsk
from redask.core.model import Ask
from redask.core.text import question_fault
from redask.core.values import Unfit, printable, shown

_BY_OPTION: Mapping[object, Clause] = {row.option: row for row in OPTIONS}
_NONE: Mapping[str, object] = {}


def from_options(question: object, options: object = _NONE, where: str = "options.") -> Ask:
    """The Ask for a question with options."""
    if not isinstance(question, str):
        _refuse("question", "a question, as text", shown(question))
    fault = question_fault(question)
    if fault:
        _refuse("question", "a question", f"one that {fault}")
    if not isinstance(options, Mapping):
        _refuse(where.rstrip(".") or "options", "an object", shown(options))
    given: dict[str, object] = {}
    for option, value in options.items():
        clause = _BY_OPTION.get(option)
        if clause is None:
            known = ", ".join(map(str, _BY_OPTION))
            _refuse(where + printable(option), f"one of the options {known}", shown(option))
        try:
            given[clause.field] = clause.read(value)
        except Unfit as unfit:
            _refuse(f"{where}{option}{unfit.path}", unfit.expected, unfit.found)
    if "cache_ttl" in given and given.get("nocache"):
        _refuse(f"{where}nocache", "either cache or nocache", "both")
    return Ask(question, **given)  # type: ignore[arg-type]  # rows name the fields


def _refuse(path: str, expected: str, found: str) -> NoReturn:
    raise BadAsk(f"{path}: expected {expected}, found {found}", detail=path)
