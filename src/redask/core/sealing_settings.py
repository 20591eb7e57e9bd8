"""Who signs checkpoints of the logs, and where they go: the settings `audit.seal.*`.

[audit.seal]                                    in the operator's own configuration only
key = "/etc/redask/audit.pem"                   a private key (`redask audit keygen`), or
signer = "/usr/local/bin/sign-checkpoint"       a command that signs its standard input, with
public_key = "/etc/redask/audit.pem.pub"        the key it signs with: a file, or its hex digits
every = "10m"                                   how often a server seals what is new
file = "/var/log/redask/checkpoints.jsonl"      where checkpoints go: any of the three
command = "logger -t redask"
url = "https://logs.example.com/redask"
"""

from dataclasses import dataclass

from redask.core.errors import Misconfigured

_YEAR = 366 * 86_400


@dataclass(frozen=True, slots=True)
class SealingSettings:
    """See the module."""

    key: str | None = None
    signer: str | None = None
    public_key: str | None = None
    every: int = 600
    file: str | None = None
    command: str | None = None
    url: str | None = None

    @property
    def signs(self) -> bool:
        """Whether somebody signs."""
        return bool(self.key or self.signer)


def check(settings: SealingSettings) -> None:
    """Raise `Misconfigured` for what does not go together."""
    if settings.key and settings.signer:
        raise Misconfigured(
            "audit.seal.key and audit.seal.signer are both set: choose one",
            detail="audit.seal.signer",
        )
    if settings.signer and not settings.public_key:
        raise Misconfigured(
            "audit.seal.signer needs audit.seal.public_key, which its signatures are checked with",
            detail="audit.seal.public_key",
        )
    if settings.every > _YEAR:
        raise Misconfigured("audit.seal.every is at most 366d", detail="audit.seal.every")
    if not settings.signs and (settings.file or settings.command or settings.url):
        raise Misconfigured(
            "checkpoints have a place to go, but nobody signs them: set audit.seal.key, "
            "which `redask audit keygen` makes",
            detail="audit.seal.key",
        )
