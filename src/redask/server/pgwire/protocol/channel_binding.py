"""What SCRAM-SHA-256-PLUS binds a sign-in to: `end_point(pem)`, by RFC 5929 `tls-server-end-point`.

It is the hash of the server's certificate, by the hash function of its signature, with SHA-256 in
place of MD5 and SHA-1. A certificate whose signature names no such function (Ed25519) has none:
then channel binding is not offered.
"""

import hashlib
import ssl

NAME = "tls-server-end-point"
_RSA, _ECDSA = "2a864886f70d0101", "2a8648ce3d04"
_HASHES = {
    bytes.fromhex(oid): name
    for oid, name in (
        *((_RSA + number, "sha256") for number in ("04", "05", "0b")),
        *((_RSA + "0c", "sha384"), (_RSA + "0d", "sha512"), (_RSA + "0e", "sha224")),
        *((_ECDSA + "01", "sha256"), (_ECDSA + "0301", "sha224"), (_ECDSA + "0302", "sha256")),
        *((_ECDSA + "0303", "sha384"), (_ECDSA + "0304", "sha512")),
    )
}
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def end_point(pem: str) -> bytes | None:
    """The binding of the first certificate of a chain; None where there is none."""
    start = pem.find(_BEGIN)
    end = pem.find(_END, start)
    if start < 0 or end < 0:
        return None
    der = ssl.PEM_cert_to_DER_cert(pem[start:end] + _END)
    try:
        name = _HASHES.get(_signature(der))
    except (IndexError, ValueError):
        return None
    return None if name is None else hashlib.new(name, der).digest()


def _signature(der: bytes) -> bytes:
    """The OID of the signature: a certificate is a sequence of content, algorithm, signature."""
    content, _ = _inside(der, 0)
    _, after_content = _inside(der, content)
    algorithm, _ = _inside(der, after_content)
    oid, end = _inside(der, algorithm)
    return der[oid:end]


def _inside(der: bytes, place: int) -> tuple[int, int]:
    """Where the value of an element starts, and where it ends."""
    length, start = der[place + 1], place + 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[place + 2 : start], "big")
    if start + length > len(der):
        raise ValueError
    return start, start + length
