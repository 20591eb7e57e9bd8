"""An attachment: which tables of which database, read as whom, and who reads it here.

It is kept as the origin `attach:/<name>` (`ports.Origin`), which brings no entity: its definition
is the root, as canonical JSON, and how far its changes are read the revision. What a table brought
belongs to the origin `attached:/<name>/<schema>.<table>`. A password is in none of it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from redask.core.errors import BadAsk
from redask.core.ports import DeclaredKey, Origin
from redask.core.text import name_fault
from redask.core.wire.json import text

PLACE = "attach:"  # of all definitions
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_MOST = 40


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of a table: its name, its type as `format_type` writes it, and its comment."""

    name: str
    type: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class SourceForeignKey:
    """A foreign key, by places: of columns here, of the table there, of columns there."""

    columns: tuple[str, ...]
    target: str  # schema.table
    target_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttachedTable:
    """A table of the source, and the collection that it is here."""

    schema: str
    name: str
    collection: str
    columns: tuple[SourceColumn, ...]
    key: tuple[str, ...]
    references: tuple[SourceForeignKey, ...] = ()
    comment: str = ""

    @property
    def full_name(self) -> str:
        """Schema and name, as people write them."""
        return f"{self.schema}.{self.name}"

    def column(self, name: str) -> SourceColumn:
        """The column of this name, which is there."""
        return next(each for each in self.columns if each.name == name)


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment. `url` has no password; `role` is None for whom the URL signs in.

    `readers` are the roles here whose callers read as that role there. `mark` tells it from one of
    the same name of another tenant, or another redask, in the same source.
    """

    name: str
    mark: str
    url: str
    role: str | None
    readers: tuple[str, ...]
    changes: str
    tables: tuple[AttachedTable, ...]

    @property
    def name_there(self) -> str:
        """What it is called in the source."""
        return f"{self.name}_{self.mark}"

    @property
    def path(self) -> str:
        """The origin of the definition."""
        return f"{PLACE}/{self.name}"

    def path_of(self, table: AttachedTable) -> str:
        """The origin of what a table brought."""
        return f"attached:/{self.name}/{table.full_name}"

    def table(self, full_name: str) -> AttachedTable | None:
        """The table of this name, if it is attached."""
        return next((each for each in self.tables if each.full_name == full_name), None)

    def of_collection(self, collection: str) -> AttachedTable | None:
        """The table that is this collection here, if one is."""
        return next((each for each in self.tables if each.collection == collection), None)

    def origin(self, position: str | None) -> Origin:
        """What is kept of it; `position` is how far its changes are read."""
        return Origin(self.path, text(asdict(self)), None, position)

    def declared_keys(self) -> list[DeclaredKey]:
        """Its keys, primary and foreign ones, for who plans a SELECT."""
        found = [DeclaredKey(each.collection, each.key) for each in self.tables]
        for table in self.tables:
            for each in table.references:
                target = self.table(each.target)
                if target is not None:
                    to = (target.collection, each.target_columns)
                    found.append(DeclaredKey(table.collection, each.columns, *to))
        return found

    def policy(self) -> dict[str, object]:
        """The policy that lets in its readers, and nobody else but owners."""
        return {"read": [{"roles": list(self.readers)}] if self.readers else []}


def read(origin: Origin) -> Attachment:
    """The attachment that an origin keeps."""
    kept = json.loads(origin.root)
    tables = [
        AttachedTable(
            *(each["schema"], each["name"], each["collection"]),
            columns=tuple(SourceColumn(**column) for column in each["columns"]),
            key=tuple(each["key"]),
            references=tuple(
                SourceForeignKey(tuple(one["columns"]), one["target"], tuple(one["target_columns"]))
                for one in each["references"]
            ),
            comment=each["comment"],
        )
        for each in kept.pop("tables")
    ]
    return Attachment(**{**kept, "readers": tuple(kept["readers"]), "tables": tuple(tables)})


def check_name(name: str) -> None:
    """Raise `BadAsk` unless it can be part of names in the source and of variables here."""
    if not 0 < len(name) <= _MOST or not set(name) <= _NAME:
        raise BadAsk(
            f"the name of an attachment is 1 to {_MOST} of a-z, 0-9 and _: choose one by --name",
            detail="name",
        )


def check_readers(roles: Sequence[str]) -> None:
    """Raise `BadAsk` unless these can be roles."""
    for role in roles:
        fault = name_fault(role)
        if fault:
            raise BadAsk(f"the role {role[:100]!a} {fault}", detail="readers")
