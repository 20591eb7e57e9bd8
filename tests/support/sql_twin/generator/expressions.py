"""Expressions of a wanted type over the columns in scope: `Maker.make`."""

import re
from dataclasses import dataclass, field
from random import Random

from redask.core.sql.types import SqlType
from sql_twin.generator.templates import KEYS, LITERALS, TEMPLATES

_HOLE = re.compile(r"\{([a-z0-9]+(?:\[\])?)\}")
_PARAMETERS: dict[str, tuple[object, ...]] = {
    "int4": (0, 3, -2, 12),
    "int8": (5, 4_000_000_000),
    "numeric": ("1.50", "-0.25", "7"),
    "text": ("alpha", "", "a%", "Ä"),
    "date": ("2021-05-05", "2023-12-31"),
    "timestamp": ("2022-02-02 02:02:02",),
    "bool": (True, False),
    "int4[]": ([1, 2, 3], []),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column in scope, as it is written."""

    text: str
    type: str


def plain(text: str) -> str:
    """A type without its modifier."""
    return str(SqlType.parse(text).bare)


@dataclass(slots=True)
class Maker:
    """Makes expressions; `loose` ones now and then have a hole filled with another type."""

    rng: Random
    columns: list[Column]
    loose: bool = False
    params: list[object] = field(default_factory=list)

    def make(self, wanted: str, depth: int = 2) -> str:
        """An expression of a type; `key` and `any` stand for one of several."""
        if wanted == "any":
            wanted = self.rng.choice(list(TEMPLATES))
        if self.loose and self.rng.random() < 0.1:
            wanted = self.rng.choice(list(TEMPLATES))
        if wanted == "key":
            wanted = self.rng.choice(KEYS)
        chance = self.rng.random()
        if depth <= 0 or chance < 0.25:
            return self.leaf(wanted)
        text = self.fill(self.rng.choice(TEMPLATES[wanted]), wanted, depth)
        return f"({text})" if wanted == "bool" else text

    def fill(self, template: str, wanted: str, depth: int) -> str:
        """A template with its holes filled; both keys of a comparison are of one type."""
        key = self.rng.choice(KEYS)

        def hole(found: re.Match[str]) -> str:
            kind = {"same": wanted, "key": key}.get(found[1], found[1])
            return self.make(kind, depth - 1)

        return _HOLE.sub(hole, template).replace("{{", "{").replace("}}", "}")

    def leaf(self, wanted: str) -> str:
        """A column, a literal or a parameter."""
        columns = [each for each in self.columns if each.type == wanted]
        chance = self.rng.random()
        if columns and chance < 0.75:
            return self.rng.choice(columns).text
        if chance > 0.97 and wanted in _PARAMETERS:
            return self.parameter(wanted)
        return self.rng.choice(LITERALS[wanted])

    def parameter(self, wanted: str) -> str:
        self.params.append(self.rng.choice(_PARAMETERS[wanted]))
        return f"${len(self.params)}::{wanted}"

    def column(self, wanted: tuple[str, ...]) -> Column | None:
        """A column of one of these types, or None."""
        fitting = [each for each in self.columns if each.type in wanted]
        return self.rng.choice(fitting) if fitting else None
