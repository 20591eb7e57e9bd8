"""Ed25519 keys in files, and signatures with them; by the package `cryptography` (extra `seal`).

    FILE        the private key, PEM (PKCS 8), that only its owner may read
    FILE.pub    the public key, PEM; what others check checkpoints with

A public key is also named by its 64 hex digits, as checkpoints name it.
"""

import os
import re
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from redask.core.errors import BadAsk, Misconfigured
from redask.core.rules.auditing.checkpoints import Checkpoint, SignatureCheck

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_HEX = re.compile("[0-9a-f]{64}")
_MOST_BYTES = 64 * 1024


class KeyFile:
    """A private key that signs."""

    def __init__(self, path: Path) -> None:
        self._key = _private_key(path)
        self.public = _digits(self._key)

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        return self._key.sign(message)


def make_key(path: Path) -> str:
    """Make a new pair of keys: `path` and `path`.pub, neither of which is there. → its hex"""
    _package()
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    plain = forms.NoEncryption()
    private = key.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, plain)
    public = key.public_key().public_bytes(
        forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo
    )
    shown = path.with_name(f"{path.name}.pub")
    _write_new(path, private, 0o600)
    try:
        _write_new(shown, public, 0o644)
    except BadAsk:
        path.unlink()
        raise
    return _digits(key)


def public_key(given: str) -> str:
    """The 64 hex digits of a public key that is given so, or as a file; `BadAsk` for none."""
    if _HEX.fullmatch(given):
        return given
    _package()
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        with open(given, "rb") as file:
            content = file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no such file"
        message = f"{given!a} is no public key of 64 hex digits, nor a file of one: {why}"
        raise BadAsk(message, detail="key") from None
    with suppress(ValueError, TypeError):
        key = forms.load_pem_public_key(content)
        if isinstance(key, Ed25519PublicKey):
            return key.public_bytes_raw().hex()
    raise BadAsk(f"{given!a} holds no public Ed25519 key", detail="key")


def signature_check(trusted: Collection[str]) -> SignatureCheck:
    """What says whether a checkpoint is signed with one of these public keys."""
    _package()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    def fault(checkpoint: Checkpoint) -> str | None:
        whose = f"the checkpoint of {checkpoint.size} rows"
        if checkpoint.key not in trusted:
            return f"{whose} is signed with the key {checkpoint.key}, which is not trusted"
        try:
            key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(checkpoint.key))
            key.verify(bytes.fromhex(checkpoint.signature), checkpoint.signed_bytes())
        except (InvalidSignature, ValueError):
            return f"{whose} is not as it was signed"
        return None

    return fault


def _private_key(path: Path) -> "Ed25519PrivateKey":
    _package()
    from cryptography.hazmat.primitives import serialization as forms
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise Misconfigured(
                f"the key {str(path)!a} may be read by others: chmod 600", detail="audit.seal.key"
            )
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        message = f"the key {str(path)!a} cannot be read: {why}"
        raise Misconfigured(message, detail="audit.seal.key") from None
    with suppress(ValueError, TypeError):
        key = forms.load_pem_private_key(content, password=None)
        if isinstance(key, Ed25519PrivateKey):
            return key
    raise Misconfigured(
        f"{str(path)!a} holds no private Ed25519 key without a password: see `redask audit keygen`",
        detail="audit.seal.key",
    )


def _digits(key: "Ed25519PrivateKey") -> str:
    return key.public_key().public_bytes_raw().hex()


def _write_new(path: Path, content: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        raise BadAsk(f"{str(path)!a} cannot be made: {why}", detail="file") from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _package() -> None:
    from importlib.util import find_spec

    if find_spec("cryptography") is None:
        raise Misconfigured("seals need a package: pip install 'redask[seal]'")
