"""The run-time parameters of one session: `SET`, `SHOW`, `RESET`, and which are reported.

Any name can be set, because drivers and pools set many; only a few have an effect:
`statement_timeout` (milliseconds or with a unit), `application_name`, `TimeZone`, the isolation of
transactions, which is only told, `client_encoding`, `IntervalStyle` without sql_standard, and
`standard_conforming_strings`, of which only our own value is accepted. Of `DateStyle` none has an
effect: dates are ISO. A parameter that is on or off takes PostgreSQL's words for it. Nothing can be
written, so transactions are read-only, whatever is set. Settings of the start-up parameter
`options` count as those of SET: a bad one is refused.

What is set ends with a transaction that is rolled back, and what is set locally with every one.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from redask.core.sql.runtime.dates.interval_styles import STYLES
from redask.core.sql.runtime.dates.time_zones import session_zone
from redask.server.pgwire.protocol.client_encodings import canonical, codec
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.protocol.startup_options import startup_options
from redask.server.pgwire.types.encoding import ResultStyle

SERVER_VERSION = "15.0"
DEFAULTS: dict[str, str] = {
    "application_name": "",
    "block_size": "8192",
    "bytea_output": "hex",
    "client_encoding": "UTF8",
    "client_min_messages": "notice",
    "DateStyle": "ISO, MDY",
    "default_table_access_method": "heap",
    "default_tablespace": "",
    "default_transaction_deferrable": "off",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "on",
    "extra_float_digits": "1",
    "idle_in_transaction_session_timeout": "0",
    "in_hot_standby": "off",
    "integer_datetimes": "on",
    "IntervalStyle": "postgres",
    "is_superuser": "off",
    "jit": "off",
    "lc_collate": "C.UTF-8",
    "lc_ctype": "C.UTF-8",
    "lc_messages": "C",
    "lock_timeout": "0",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "role": "none",
    "row_security": "on",
    "search_path": "public",
    "server_encoding": "UTF8",
    "server_version": SERVER_VERSION,
    "server_version_num": "150000",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "TimeZone": "UTC",
    "transaction_deferrable": "off",
    "transaction_isolation": "read committed",
    "transaction_read_only": "on",
}
_BY_NAME = {name.lower(): name for name in DEFAULTS}
_REPORTED = (
    *("server_version", "application_name", "client_encoding", "DateStyle", "IntervalStyle"),
    *("TimeZone", "standard_conforming_strings", "default_transaction_read_only"),
)
_FIXED: dict[str, tuple[str, ...]] = {
    "standard_conforming_strings": ("on", "true", "1", "yes", "default"),
    "integer_datetimes": ("on",),
    "IntervalStyle": ("default", *STYLES),
}
_BY_DEFAULT = ("transaction_isolation", "transaction_deferrable")
_ISOLATION = ("serializable", "repeatable read", "read committed", "read uncommitted")
_READ_ONLY = ("server_version", "server_version_num", "server_encoding", "is_superuser")
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "min": 60_000.0, "h": 3.6e6, "d": 8.64e7}
_TIME = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(us|ms|s|min|h|d)?\s*")
_MOST, _LONGEST, _ALL = 200, 10_000, 65_536  # settings, characters of one, of all


class RuntimeParameters:
    """The values of one session."""

    def __init__(self, startup: Mapping[str, str]) -> None:
        self._values: dict[str, str] = {}
        self._reported: dict[str, str] = {}
        self._changed = True
        self._initial: dict[str, str] = {}
        self._before: dict[str, str] | None = None  # before what the transaction set
        self._local: dict[str, str | None] = {}  # and what to set again when it ends
        for name, value in startup.items():
            if name.lower() in _BY_NAME and name.lower() not in _READ_ONLY:
                try:
                    self.set(name, value)
                except SqlStateError:
                    continue  # a client that needs another value finds ours in ParameterStatus
        for name, value in startup_options(startup.get("options", "")):
            self.set(name, value)
        self._initial = dict(self._values)
        self._before = None

    def get(self, name: str) -> str | None:
        """The value of a parameter; None when there is no such parameter."""
        known = _BY_NAME.get(name.lower(), name.lower())
        if known in _BY_DEFAULT and known not in self._values:
            known = f"default_{known}"
        return self._values.get(known, DEFAULTS.get(known))

    def set(self, name: str, value: str, *, is_local: bool = False) -> None:
        """Set a parameter; `is_local`: until the transaction ends."""
        self._begin()
        lowered = name.lower()
        known = _BY_NAME.get(lowered, lowered)
        if lowered in _READ_ONLY:
            raise SqlStateError("55P02", f'parameter "{known}" cannot be changed')
        taken = _FIXED.get(known)
        if taken is not None and value.lower().strip("'\"") not in taken:
            raise SqlStateError("22023", f'"{value[:100]}" is no supported {known}')
        others = sum(len(key) + len(held) for key, held in self._values.items() if key != known)
        is_too_many = known not in self._values and len(self._values) >= _MOST
        longest = max(len(name), len(value))
        if is_too_many or longest > _LONGEST or others + len(name) + len(value) > _ALL:
            raise SqlStateError("54000", "too many settings, or one that is too long")
        if known == "statement_timeout" and _milliseconds(value) is None:
            raise SqlStateError("22023", f'invalid value for parameter "{known}": "{value[:100]}"')
        if known == "TimeZone":
            value = _zone(value)
        elif known == "client_encoding":
            value = _encoding(value)
        elif known == "IntervalStyle":
            value, taken = value.lower().replace("default", STYLES[0]), None
        elif known.endswith("transaction_isolation"):
            value = _isolation(known, value)
        elif taken is None and DEFAULTS.get(known) in ("on", "off"):
            value = _switch(known, value)
        if is_local:
            self._local.setdefault(known, self._values.get(known))
        else:
            self._local.pop(known, None)
        if taken is None and known != "DateStyle":
            self._values[known] = value

    def _begin(self) -> None:
        """Remember what a transaction that is rolled back comes back to."""
        self._changed = True
        if self._before is None:
            self._before = dict(self._values)

    def end_transaction(self, *, committed: bool) -> None:
        """Take back what was set for the transaction; all of it, if it was not committed."""
        if self._before is None:
            return
        self._changed = True
        if not committed:
            self._values = self._before
        else:
            for name, value in self._local.items():
                self._values.pop(name, None)
                if value is not None:
                    self._values[name] = value
        self._before, self._local = None, {}

    def saved(self) -> dict[str, str]:
        """What is set now, for `restore`."""
        return dict(self._values)

    def restore(self, values: Mapping[str, str]) -> None:
        """Back to what was set at a savepoint."""
        self._changed = True
        self._values = dict(values)

    def reset(self, name: str | None) -> None:
        """Back to the values of start-up."""
        self._begin()
        if name is None or name.lower() == "all":
            self._values = dict(self._initial)
            return
        known = _BY_NAME.get(name.lower(), name.lower())
        self._values.pop(known, None)
        if known in self._initial:
            self._values[known] = self._initial[known]

    def all(self) -> list[tuple[str, str]]:
        """All parameters by name."""
        found = {**DEFAULTS, **{name: self.get(name) or "" for name in _BY_DEFAULT}, **self._values}
        return sorted(found.items(), key=lambda each: each[0].lower())

    def timeout(self) -> float | None:
        """The seconds that a statement may take."""
        milliseconds = _milliseconds(self.get("statement_timeout") or "0")
        return milliseconds / 1000 if milliseconds else None

    def style(self) -> ResultStyle:
        """How values are written."""
        zone, intervals = self.get("TimeZone") or "UTC", self.get("IntervalStyle") or STYLES[0]
        return ResultStyle(zone, intervals, codec(self.get("client_encoding") or "UTF8"))

    def changes(self) -> dict[str, str]:
        """The reported parameters that changed since the last call."""
        if not self._changed:
            return {}
        self._changed = False
        now = {name: self.get(name) or "" for name in _REPORTED}
        found = {name: value for name, value in now.items() if self._reported.get(name) != value}
        self._reported = now
        return found


def _encoding(value: str) -> str:
    found = canonical(value)
    if found is None:
        name = "client_encoding"
        raise SqlStateError("22023", f'invalid value for parameter "{name}": "{value[:100]}"')
    return found


def _zone(value: str) -> str:
    found = "UTC" if value.lower() in ("default", "local") else session_zone(value)
    if found is None:
        raise SqlStateError("22023", f'invalid value for parameter "TimeZone": "{value[:100]}"')
    return found


def _isolation(name: str, value: str) -> str:
    word = " ".join(value.lower().split())
    if word not in _ISOLATION:
        raise SqlStateError("22023", f'invalid value for parameter "{name}": "{value[:100]}"')
    return word


def _switch(name: str, value: str) -> str:
    word = value.strip().lower()
    for known, longest in (("on", "true yes 1 on"), ("off", "false no 0 off")):
        starts = [each for each in longest.split() if word and each.startswith(word)]
        if starts and word != "o":
            return known
    raise SqlStateError("22023", f'parameter "{name}" requires a Boolean value')


@lru_cache(64)
def _milliseconds(value: str) -> float | None:
    found = _TIME.fullmatch(value.lower().replace("default", "0"))
    return None if found is None else float(found[1]) * _MILLISECONDS[found[2] or "ms"]
