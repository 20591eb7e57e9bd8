"""SCRAM-SHA-256 (RFC 5802, 7677), the server's side: `Exchange(verifiers, nonce)`, without I/O.

    client   n,,n=,r=<nonce>                           `first` →
    server   r=<nonce><ours>,s=<salt>,i=<iterations>
    client   c=biws,r=<nonce><ours>,p=<proof>          `final` →
    server   v=<signature>, and whose token it was

A user may have several tokens, all with one salt: the proof is checked against each of them, and
against dummies up to `LEAST`, always against all, so that neither how many there are nor
which one it was shows in the time it takes. An unknown user has none, and costs the same.

With TLS a client may bind the sign-in to the server's certificate, SCRAM-SHA-256-PLUS: its header
is `p=tls-server-end-point,,`, and `c=` has the header and the `end_point`. Then a client that says
`y`, "you do not offer it", was lied to: 28000. What is no SCRAM is a `SqlStateError` 08P01; a proof
that is wrong is None, for the caller to refuse like all others. The name inside is ignored, as
PostgreSQL does: the one of the start-up message counts.
"""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass

from redask.core.access.credentials import TokenVerifier, Verifiers
from redask.server.pgwire.protocol import channel_binding
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError

MECHANISM, BOUND = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
LEAST = 16
_KEY_BYTES = 32
_DUMMY = TokenVerifier("", bytes(_KEY_BYTES), bytes(_KEY_BYTES))
_NONCE = r"[\x21-\x2b\x2d-\x7e]{1,256}"  # printable, no comma
_FIRST = re.compile(rf"(n|y|p=[^,]*),(?:a=[^,]*)?,(n=[^,]*,r=({_NONCE})(?:,.*)?)", re.S)
_FINAL = re.compile(rf"(c=([^,]*),r=({_NONCE})(?:,[^,]*)*?),p=([^,]*)", re.S)


@dataclass(frozen=True, slots=True)
class Proven:
    """Which token it was, and what shows the client that we know it."""

    token: str
    reply: bytes


class Exchange:
    """One attempt to sign in; `nonce` is ours, fresh and random."""

    def __init__(
        self, verifiers: Verifiers, nonce: str, end_point: bytes | None = None, mechanism: str = ""
    ) -> None:
        """`end_point` is there when channel binding was offered; `mechanism` is what was chosen."""
        self._verifiers = verifiers
        self._end_point = end_point
        self._is_bound = mechanism == BOUND
        self._nonce = nonce
        self._bare = ""
        self._header = b""
        self._challenge = ""

    def first(self, words: bytes) -> bytes:
        """The challenge."""
        header, self._bare, nonce = _first(words)
        self._check_header(header)
        self._header = header.encode() + (self._end_point or b"" if self._is_bound else b"")
        self._nonce = nonce + self._nonce
        salt = base64.b64encode(self._verifiers.salt).decode()
        self._challenge = f"r={self._nonce},s={salt},i={self._verifiers.iterations}"
        return self._challenge.encode()

    def _check_header(self, header: str) -> None:
        flag = header.partition(",")[0]
        if self._is_bound != flag.startswith("p="):
            raise _bad("the channel binding of SCRAM")
        if self._is_bound and (self._end_point is None or flag != f"p={channel_binding.NAME}"):
            raise SqlStateError("08P01", f"the only channel binding is {channel_binding.NAME}")
        if flag == "y" and self._end_point is not None:
            raise SqlStateError("28000", "SCRAM channel binding negotiation error")

    def final(self, words: bytes) -> Proven | None:
        """Whose token it is; None for nobody's."""
        found = _FINAL.fullmatch(_text(words))
        if found is None:
            raise _bad("the last message of SCRAM")
        unproven, binding, nonce, proof = found.groups()
        if _bytes(binding) != self._header or nonce != self._nonce:
            raise _bad("the channel or nonce of SCRAM")
        given = _bytes(proof)
        if len(given) != _KEY_BYTES:
            raise _bad("the proof of SCRAM")
        auth_message = f"{self._bare},{self._challenge},{unproven}".encode()
        return self._judge(given, auth_message)

    def _judge(self, proof: bytes, auth_message: bytes) -> Proven | None:
        known = self._verifiers.tokens
        missing = max(0, LEAST - len(known))
        proven: Proven | None = None
        for each in (*known, *(_DUMMY,) * missing):
            mask = hmac.digest(each.stored_key, auth_message, "sha256")
            key = bytes(a ^ b for a, b in zip(proof, mask, strict=True))
            fits = hmac.compare_digest(hashlib.sha256(key).digest(), each.stored_key)
            signature = hmac.digest(each.server_key, auth_message, "sha256")
            if fits and each is not _DUMMY:
                proven = Proven(each.token, b"v=" + base64.b64encode(signature))
        return proven


def _first(words: bytes) -> tuple[str, str, str]:
    """The header, the bare message and the client's nonce."""
    text = _text(words)
    found = _FIRST.fullmatch(text)
    if found is None:
        raise _bad("the first message of SCRAM")
    _, bare, nonce = found.groups()
    return text[: len(text) - len(bare)], bare, nonce


def _text(words: bytes) -> str:
    try:
        return words.decode()  # the name inside may be any text
    except UnicodeDecodeError:
        raise _bad("a message of SCRAM") from None


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _bad("a value of SCRAM") from None


def _bad(what: str) -> SqlStateError:
    return SqlStateError("08P01", f"{what} is not what it should be")
