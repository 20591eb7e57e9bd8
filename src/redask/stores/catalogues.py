"""Catalogues as a caller may see them: collections with counts, columns with types.

Counters are kept by policy class, so that what is invisible is not counted, and its columns are
not known. The counters do not know the ends of edges: where a policy might hide an end, edges
are counted one by one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from redask.core.model import Kind
from redask.stores.statistics import Collection, Column
from redask.stores.visibility import StoreVisibility


class Holding(NamedTuple):
    """A counter: `kind` is None for a collection that holds nothing."""

    collection: int
    name: str
    language: str | None
    policy_class: int
    kind: Kind | None
    entities: int


class CountedColumn(NamedTuple):
    """A column that entities of a policy class have, and what it is to SQL in one of them."""

    policy_class: int
    name: str
    type: str


def visible_collections(
    holdings: Iterable[Holding],
    visibility: StoreVisibility,
    edge_classes: Callable[[int], Iterable[int]],
) -> list[Collection]:
    """The collections that hold something to be seen or have a language, by name.

    `holdings` come by name; `edge_classes` gives the policy class of each edge of a collection
    whose ends are to be seen.
    """
    counts: defaultdict[tuple[str, str | None], Counter[Kind]] = defaultdict(Counter)
    for collection, name, language, policy_class, kind, count in holdings:
        if name in visibility.denied:
            continue
        if kind is not None and visibility.projection(collection, policy_class) is not None:
            held = count
            if kind == Kind.EDGE and not visibility.sees_all:  # the ends decide as well
                held = sum(own == policy_class for own in edge_classes(collection))
            if held:
                counts[name, language][kind] += held
        elif language is not None and visibility.knows(collection):
            counts[name, language].update()
    return [Collection(name, language, held) for (name, language), held in counts.items()]


def visible_columns(
    columns: Iterable[CountedColumn], collection: int, visibility: StoreVisibility
) -> list[Column]:
    """The columns of what is to be seen of a collection, by name, and what they are to SQL.

    Integers and reals together are real; any other mixture is text, and so is a masked column,
    which is there even if no row has it.
    """
    types: defaultdict[str, set[str]] = defaultdict(set)
    for policy_class, name, type_name in columns:
        projection = visibility.projection(collection, policy_class)
        if projection is not None:
            for masked in projection.mask:
                types[masked] = {"text"}
            if not projection.hides(name):
                types[name].add(type_name)
    return [Column(name, _type(each - {"null"})) for name, each in sorted(types.items())]


def _type(found: set[str]) -> str:
    if len(found) == 1:
        return min(found)
    return "real" if found == {"integer", "real"} else "text"
