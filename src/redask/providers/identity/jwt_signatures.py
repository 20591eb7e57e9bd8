"""What a JWT claims, if the identity provider signed it: `JwtSignatures(settings).claims(token)`.

The signature is checked by PyJWT (the extra `jwt`), with an algorithm that the settings list and a
key that the provider publishes under the token's `kid`. Nothing in a token chooses its key: `jku`,
`x5u` and `jwk` are not looked at, `crit` is refused. What the claims mean is
`access.identity_claims`' to say.
"""

from collections.abc import Mapping
from importlib.util import find_spec

from redask.core.errors import Misconfigured
from redask.core.sign_in import RefusedToken, SignInSettings
from redask.providers.identity.issuer_keys import IssuerKeys

MOST_CHARACTERS = 16_384
_UNCHECKED = ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")  # by `identity_claims`


class JwtSignatures:
    """The check of one issuer's tokens."""

    def __init__(self, settings: SignInSettings) -> None:
        if find_spec("jwt") is None or find_spec("cryptography") is None:
            raise Misconfigured(
                "sign_in.issuer needs a package: pip install 'redask[jwt]'", detail="sign_in.issuer"
            )
        self._algorithms = settings.algorithms
        self._keys = IssuerKeys(settings)

    def claims(self, token: str) -> Mapping[str, object]:
        """What it claims; `RefusedToken`, or `StoreFailed` while the keys cannot be read."""
        import jwt

        if len(token) > MOST_CHARACTERS:
            raise RefusedToken("it is too long")
        try:
            header = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise RefusedToken("it is no JWT") from None
        algorithm, ident = header.get("alg"), header.get("kid")
        if algorithm not in self._algorithms:
            raise RefusedToken("its algorithm is not one of sign_in.algorithms")
        if "crit" in header or not isinstance(ident, str | None):
            raise RefusedToken("its header asks for what nobody here knows")
        keys = self._keys.keys(ident)
        if not keys:
            raise RefusedToken("its key is none of the issuer's")
        for key in keys:
            if key.get("alg", algorithm) != algorithm:
                continue
            try:
                return jwt.decode(
                    token,
                    jwt.PyJWK(dict(key), algorithm).key,
                    algorithms=[algorithm],
                    options={f"verify_{name}": False for name in _UNCHECKED},  # type: ignore[arg-type]
                )
            except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
                continue
        raise RefusedToken("its signature is not the issuer's")
