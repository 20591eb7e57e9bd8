"""What made an answer, as it is kept beside its audit row: `Provenance`, to plain data and back.

    options      of the ask, where they are not the defaults; `hashed`: the question is not kept
    attributes   those that came with the sign-in, of a user of an identity provider
    found        absent where an ask failed before its sources were found
      versions     content versions of the sources as the prompt shows them, in the row's order
      read         the same of the whole payloads; empty: the same
      fingerprint  of the sources
      prompt       SHA-256 of the assembled prompt
      visibility   what the principal could read, in one hash
      watermark    of the data, and `write`, the tenant's last write
      index        what was searched, and with which `embedder`; empty for a computed answer
    setup        the template of prompts, settings that are not the defaults, redask's version

Neither the question nor the answer nor a word of a source stands in it. A content version can be
tried against a guess, so that nobody is shown one who may not read the source.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from redask.core.model import Ask, PlanChoice, Strictness

_NOTHING: Mapping[str, object] = MappingProxyType({})
_OPTIONS = (
    *("collections", "limit", "min_score", "depth", "strict", "temperature", "seed"),
    *("plan", "steps"),
)
_DEFAULTS = Ask("")
_DIGITS = 16  # of a content version


@dataclass(frozen=True, slots=True)
class DataState:
    """The data and the index as a principal stood before them."""

    visibility: str
    watermark: int
    write: str
    index: str = ""
    embedder: str = ""


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """What an ask found, in hashes; see the module."""

    versions: tuple[int, ...]
    read: tuple[int, ...]
    fingerprint: str
    prompt: str
    state: DataState

    def plain(self) -> dict[str, object]:
        """As plain data."""
        whole = "" if self.read == self.versions else _hex(self.read)
        told: dict[str, object] = {name: getattr(self.state, name) for name in _names(DataState)}
        told |= {"fingerprint": self.fingerprint, "prompt": self.prompt}
        return {**told, "read": whole, "versions": _hex(self.versions)}


@dataclass(frozen=True, slots=True)
class AnswerSetup:
    """How prompts are written, the settings that are not the defaults, the version of redask."""

    template: str = ""
    redask: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, object]:
        """As plain data."""
        settings = dict(sorted(self.settings.items()))
        return {"redask": self.redask, "settings": settings, "template": self.template}


@dataclass(frozen=True, slots=True)
class Provenance:
    """See the module. `by_model`: a model wrote the statement, or said that there is none.

    `replays` is the number of the row that was replayed, if the ask was a replay.
    """

    setup: AnswerSetup
    options: Mapping[str, object] = field(default_factory=lambda: _NOTHING)
    found: SourceFacts | None = None
    attributes: tuple[tuple[str, object], ...] | None = None
    by_model: bool = False
    hashed: bool = False
    replays: int = 0

    def plain(self) -> dict[str, object]:
        """As plain data; what says nothing is left out."""
        told: dict[str, object] = {"setup": self.setup.plain()}
        if self.found is not None:
            told["found"] = self.found.plain()
        if self.attributes is not None:
            told["attributes"] = [[name, _thawed(value)] for name, value in self.attributes]
        more: dict[str, object] = {"by_model": self.by_model, "hashed": self.hashed}
        more |= {"options": dict(self.options), "replays": self.replays}
        return told | {name: value for name, value in more.items() if value}


def read_provenance(plain: Mapping[str, Any]) -> Provenance:
    """What `plain` gave."""
    given, found = plain.get("attributes"), plain.get("found")
    return Provenance(
        AnswerSetup(**plain["setup"]),
        plain.get("options", _NOTHING),
        None if found is None else _found(found),
        None if given is None else tuple((name, _frozen(value)) for name, value in given),
        by_model=plain.get("by_model", False),
        hashed=plain.get("hashed", False),
        replays=plain.get("replays", 0),
    )


def options_of(ask: Ask) -> dict[str, object]:
    """The options that matter for asking again, where they are not the defaults."""
    told = {name: getattr(ask, name) for name in _OPTIONS}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in told.items()
        if value != getattr(_DEFAULTS, name)
    }


def ask_of(question: str, options: Mapping[str, Any]) -> Ask:
    """The ask that `options_of` was told of, with its question; nothing is cached."""
    given = {name: value for name, value in options.items() if name in _OPTIONS}
    if "collections" in given:
        given["collections"] = tuple(given["collections"])
    if "strict" in given:
        given["strict"] = Strictness(given["strict"])
    if "plan" in given:
        given["plan"] = PlanChoice(given["plan"])
    return Ask(question, nocache=True, **given)


def _found(plain: Mapping[str, Any]) -> SourceFacts:
    versions = _versions(plain["versions"])
    state = DataState(*(plain[name] for name in _names(DataState)))
    read = _versions(plain["read"]) if plain["read"] else versions
    return SourceFacts(versions, read, plain["fingerprint"], plain["prompt"], state)


def _names(kind: type[DataState]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _hex(versions: Sequence[int]) -> str:
    return "".join([format(each, f"0{_DIGITS}x") for each in versions])


def _versions(text: str) -> tuple[int, ...]:
    places = range(0, len(text), _DIGITS)
    return tuple(int(text[place : place + _DIGITS], 16) for place in places)


def _thawed(value: object) -> object:
    """A caller's attribute as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
