"""The address of one entity: `encode` a Urn to text, `decode` text to a Urn.

    urn:reddb:<kind>:<collection>/<id>[#<fragment>]

Collection, id and fragment are percent-encoded UTF-8: `%`, `/`, `#`, `:`, space, controls,
0x7F and every byte from 0x80 become upper-case `%HH`, so a URN is printable ASCII and the
round trip is exact for any Unicode. Only documents have a fragment (a chunk's label), which is
never empty. Decoding accepts either hex case and refuses everything else with a `BadUrn` whose
`fault` is, in the order of reading:

    scheme · kind · separator (`:` or `/` missing) · empty collection · empty id ·
    empty fragment · fragment not allowed · raw character · bad percent · not UTF-8

Equal entities have equal URNs: fusion breaks ties by them, fingerprints hash them.
"""

import re

from redask.core.errors import BadUrn, UrnFault
from redask.core.model import Kind, Urn

_SCHEME = "urn:reddb:"
_RESERVED = re.compile(rb"[^!-~]|[%/#:]")
_RAW = re.compile(r"[^!-~]|[/#:]")
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PERCENT = re.compile(rb"%(..)", re.DOTALL)


def encode(urn: Urn) -> str:
    """The URN as printable ASCII."""
    kind = _kind(urn.kind)
    if not urn.collection:
        raise BadUrn(UrnFault.EMPTY_COLLECTION, "a URN needs a collection")
    if not urn.id:
        raise BadUrn(UrnFault.EMPTY_ID, "a URN needs an id")
    text = f"{_SCHEME}{kind}:{_quote(urn.collection)}/{_quote(urn.id)}"
    if urn.fragment is None:
        return text
    _check_fragment(kind, urn.fragment)
    return f"{text}#{_quote(urn.fragment)}"


def decode(text: str) -> Urn:
    """The Urn that `text` encodes."""
    if not text.startswith(_SCHEME):
        raise BadUrn(UrnFault.SCHEME, f"a URN starts with {_SCHEME}")
    name, colon, body = text[len(_SCHEME) :].partition(":")
    kind = _kind(name)
    path, hash_sign, fragment = body.partition("#")
    collection, slash, entity = path.partition("/")
    if not colon or (collection and not slash):
        missing = "/" if colon else ":"
        raise BadUrn(UrnFault.SEPARATOR, f"a URN has a {missing} there: {_SCHEME}{kind}:name/id")
    if not collection:
        raise BadUrn(UrnFault.EMPTY_COLLECTION, "the collection of this URN is empty")
    if not entity:
        raise BadUrn(UrnFault.EMPTY_ID, "the id of this URN is empty")
    if hash_sign:
        _check_fragment(kind, fragment)
    return Urn(
        kind,
        _unquote(collection, "collection"),
        _unquote(entity, "id"),
        _unquote(fragment, "fragment") if hash_sign else None,
    )


def _kind(name: str) -> Kind:
    try:
        return Kind(name)
    except ValueError:
        known = ", ".join(Kind)
        raise BadUrn(UrnFault.KIND, f"{name[:32]!r} is no kind of entity: {known}") from None


def _check_fragment(kind: Kind, fragment: str) -> None:
    if not fragment:
        raise BadUrn(UrnFault.EMPTY_FRAGMENT, "the fragment of this URN is empty")
    if kind is not Kind.DOCUMENT:
        raise BadUrn(UrnFault.FRAGMENT_KIND, f"only a document has a fragment, not a {kind}")


def _quote(part: str) -> str:
    try:
        raw = part.encode()
    except UnicodeEncodeError:
        raise BadUrn(UrnFault.UTF8, "a lone surrogate has no UTF-8") from None
    return _RESERVED.sub(lambda found: b"%%%02X" % found[0][0], raw).decode("ascii")


def _unquote(part: str, name: str) -> str:
    raw = _RAW.search(part)
    if raw:
        raise BadUrn(
            UrnFault.RAW_CHARACTER,
            f"{raw[0]!a} in the {name} of a URN must be percent-encoded",
        )
    if _BAD_PERCENT.search(part):
        raise BadUrn(UrnFault.PERCENT, f"a % in the {name} needs two hex digits after it")
    decoded = _PERCENT.sub(lambda found: bytes([int(found[1], 16)]), part.encode("ascii"))
    try:
        return decoded.decode()
    except UnicodeDecodeError:
        raise BadUrn(UrnFault.UTF8, f"the {name} does not decode to UTF-8") from None
