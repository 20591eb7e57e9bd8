"""An identity provider on loopback: discovery, keys that rotate, and the tokens it signs.

with Issuer() as issuer:
    issuer.token(sub="mia", role="support"); issuer.rotate(); issuer.down = True

It also signs browsers in, as CLIENT: /authorize sends them straight back with a code, /token gives
an ID token for it, once, to who has the verifier (and the secret, if there is one). `said` are
claims of that token in place of the good ones.
"""

import base64
import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

AUDIENCE = "redask"
CLIENT = "redask-page"
Json = dict[str, Any]


class Issuer:
    """One provider; `reads` counts how often its keys were fetched."""

    def __init__(self) -> None:
        self.keys: dict[str, tuple[Any, str]] = {}
        self.published: list[Json] = []
        self.down = False
        self.reads = 0
        self.said_issuer: str | None = None
        self.now = time.time
        self.secret: str | None = None
        self.said: Json = {}
        self.asked: list[Json] = []  # what browsers came to /authorize with
        self.codes: dict[str, Json] = {}
        self._count = 0
        self.rotate()

    def __enter__(self) -> Self:
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if issuer.down:
                    self.send_error(503)
                    return
                if self.path.startswith("/authorize?"):
                    self.send_response(302)
                    self.send_header("Location", issuer.authorize(self.path.partition("?")[2]))
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                documents = {
                    "/.well-known/openid-configuration": issuer.discovery,
                    "/keys": issuer.jwks,
                }
                found = documents.get(self.path)
                if found is None:
                    self.send_error(404)
                    return
                self._say(200, found())

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
                if issuer.down or self.path != "/token":
                    self.send_error(503)
                    return
                self._say(*issuer.redeem(dict(parse_qsl(sent)), self.headers["Authorization"]))

            def _say(self, status: int, said: Json) -> None:
                body = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def discovery(self) -> Json:
        return {
            "issuer": self.said_issuer or self.url,
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
        }

    def authorize(self, query: str) -> str:
        """Where a browser is sent back to."""
        asked = dict(parse_qsl(query))
        self.asked.append(asked)
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT)
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        code = f"code-{len(self.asked)}"
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def redeem(self, form: dict[str, str], authorization: str | None) -> tuple[int, Json]:
        """Status and reply of /token."""
        if self.secret is not None:
            proof = base64.b64encode(f"{CLIENT}:{self.secret}".encode()).decode()
            if authorization != f"Basic {proof}":
                return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form["code"], None)
        challenge = _encoded(hashlib.sha256(form["code_verifier"].encode()).digest())
        good = asked is not None and asked["code_challenge"] == challenge
        if asked is None or not good or asked["redirect_uri"] != form["redirect_uri"]:
            return 400, {"error": "invalid_grant"}
        claims = {"aud": CLIENT, "nonce": asked["nonce"], **self.said}
        return 200, {"access_token": "opaque", "id_token": self.token(**claims)}

    def jwks(self) -> Json:
        self.reads += 1
        return {"keys": self.published}

    def rotate(self) -> None:
        """New keys of each kind in place of the old ones."""
        self._count += 1
        made: dict[str, tuple[Any, str, Any]] = {
            f"rsa-{self._count}": (rsa.generate_private_key(65537, 2048), "RS256", RSAAlgorithm),
            f"ec-{self._count}": (ec.generate_private_key(ec.SECP256R1()), "ES256", ECAlgorithm),
            f"ed-{self._count}": (ed25519.Ed25519PrivateKey.generate(), "EdDSA", OKPAlgorithm),
        }
        self.keys = {ident: (key, algorithm) for ident, (key, algorithm, _) in made.items()}
        self.published = [
            {**json.loads(kind.to_jwk(key.public_key())), "kid": ident, "use": "sig"}
            for ident, (key, _, kind) in made.items()
        ]

    def claims(self, **claims: object) -> Json:
        """Those of a good token, with these in place; None leaves one out."""
        now = int(self.now())
        good = {"iss": self.url, "aud": AUDIENCE, "exp": now + 300, "iat": now, "sub": "mia"}
        whole = {**good, "role": "support", **claims}
        return {name: value for name, value in whole.items() if value is not None}

    def token(self, kind: str = "rsa", header: Json | None = None, **claims: object) -> str:
        """A token that the newest key of a kind signed."""
        ident = next(each for each in self.keys if each.startswith(kind))
        key, algorithm = self.keys[ident]
        said = {"kid": ident, **(header or {})}
        kept = {name: value for name, value in said.items() if value is not None}
        return jwt.encode(self.claims(**claims), key, algorithm, kept)

    def unsigned(self, **claims: object) -> str:
        """`alg` none, and no signature."""
        ident = next(iter(self.keys))
        return f"{_part({'alg': 'none', 'kid': ident})}.{_part(self.claims(**claims))}."

    def confused(self, **claims: object) -> str:
        """HS256, with the public RSA key as the secret: the classic confusion."""
        ident = next(iter(self.keys))
        public = self.keys[ident][0].public_key()
        pem = public.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        said = f"{_part({'alg': 'HS256', 'kid': ident})}.{_part(self.claims(**claims))}"
        return f"{said}.{_encoded(hmac.digest(pem, said.encode(), hashlib.sha256))}"


def _part(value: Json) -> str:
    return _encoded(json.dumps(value).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
