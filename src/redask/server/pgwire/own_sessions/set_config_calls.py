"""What the calls of set_config(name, value, is_local) in a SELECT set: constants or parameters."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session import splitting
from redask.server.pgwire.session.runtime_parameters import RuntimeParameters

_PARAMETER = re.compile(r"\$([1-9][0-9]{0,4})")
_TRUE = ("true", "t", "on", "yes", "1")


@dataclass(frozen=True, slots=True)
class SetConfig:
    """One call: its three arguments as they are written."""

    name: str
    value: str
    is_local: str

    def apply(self, parameters: RuntimeParameters, values: Sequence[object]) -> None:
        """Set the parameter; `values` are those of the statement's parameters."""
        name, value, is_local = (
            _given(each, values) for each in (self.name, self.value, self.is_local)
        )
        if name is not None:
            is_set_locally = is_local is not None and is_local.lower() in _TRUE
            parameters.set(name, value or "", is_local=is_set_locally)


def set_calls(sql: str) -> list[SetConfig]:
    """The calls in a statement."""
    pieces = splitting.pieces(sql)
    return [
        _call(pieces[place + 1 : place + 8])
        for place, piece in enumerate(pieces)
        if piece.lower() == "set_config"
    ]


def _call(pieces: list[str]) -> SetConfig:
    marks, given = pieces[::2], pieces[1::2]
    plain = [each for each in given[:2] if each[:1] == "'" or _PARAMETER.fullmatch(each)]
    if marks != ["(", ",", ",", ")"] or len(plain) != 2:
        raise SqlStateError("0A000", "set_config() of anything but constants is not supported")
    return SetConfig(*given)


def _given(piece: str, values: Sequence[object]) -> str | None:
    found = _PARAMETER.fullmatch(piece)
    if found is None:
        return splitting.value(piece)
    number = int(found[1])
    value = values[number - 1] if number <= len(values) else None
    return None if value is None else str(value)
