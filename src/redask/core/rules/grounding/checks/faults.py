"""What a check finds wrong in a claim: a `Fault`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """A token without support; `instead` is what a source has in its place: a contradiction."""

    token: str
    instead: str | None = None
