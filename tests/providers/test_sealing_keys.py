"""Keys in files, signers elsewhere and sinks: what is made is private, what fails says so."""

import errno
import os
import shlex
import stat
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization as forms
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from sealed import new_key

from redask.core.errors import BadAsk, Misconfigured, StoreFailed
from redask.core.rules.auditing.checkpoints import Checkpoint
from redask.providers.sealing import ed25519_keys, operator_commands
from redask.providers.sealing.checkpoint_sinks import CommandSink, FileSink, UrlSink
from redask.providers.sealing.ed25519_keys import KeyFile, make_key, public_key, signature_check
from redask.providers.sealing.operator_commands import SignerCommand

LINES = ['{"a":"é"}', '{"b":2}']
SENT = '{"a":"é"}\n{"b":2}\n'


def python(program: str) -> str:
    """A command that runs a program."""
    return shlex.join([sys.executable, "-c", program])


def test_a_new_key_is_private_and_its_public_part_is_beside_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        public = make_key(tmp_path / "key.pem")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "key.pem").stat().st_mode) == 0o600
    assert KeyFile(tmp_path / "key.pem").public == public
    assert public_key(str(tmp_path / "key.pem.pub")) == public_key(public) == public
    assert "PRIVATE" not in (tmp_path / "key.pem.pub").read_text()


@pytest.mark.parametrize("there", ["key.pem", "key.pem.pub"])
def test_no_key_is_overwritten_and_none_is_left_alone(tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(BadAsk, match="cannot be made: File exists"):
        make_key(tmp_path / "key.pem")
    assert [path.name for path in tmp_path.iterdir()] == [there]
    assert (tmp_path / there).read_text() == "mine"


def test_a_key_that_others_may_read_or_that_is_none_is_refused(tmp_path: Path) -> None:
    path = new_key(tmp_path)
    path.chmod(0o640)
    with pytest.raises(Misconfigured, match="may be read by others"):
        KeyFile(path)
    with pytest.raises(Misconfigured, match="cannot be read: No such file"):
        KeyFile(tmp_path / "none")
    other = generate_private_key(SECP256R1()).private_bytes(
        forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()
    )
    for content in (b"", b"x", other, (tmp_path / "key.pem.pub").read_bytes()):
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(Misconfigured, match="holds no private Ed25519 key"):
            KeyFile(path)


@pytest.mark.parametrize("content", [b"", b"x" * 100])
def test_what_is_no_public_key_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some"
    path.write_bytes(content)
    with pytest.raises(BadAsk, match="holds no public Ed25519 key"):
        public_key(str(path))
    for given in ("none", "a\0b", "AB" * 32):
        with pytest.raises(BadAsk, match="no public key of 64 hex digits, nor a file"):
            public_key(given)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    for work in (lambda: make_key(Path("k")), lambda: signature_check([])):
        with pytest.raises(Misconfigured, match=r"pip install 'redask\[seal\]'"):
            work()


def test_a_key_that_is_no_point_of_the_curve_signs_nothing() -> None:
    fake = Checkpoint("i", "ask", "t", 0, 1, "00" * 32, 1, "ff" * 32, "00" * 64)
    assert signature_check([fake.key])(fake) == "the checkpoint of 1 rows is not as it was signed"
    assert ed25519_keys.public_key(fake.key) == fake.key


SIGN = """
import sys
from pathlib import Path
from redask.providers.sealing.ed25519_keys import KeyFile
signature = KeyFile(Path({path!r})).sign(sys.stdin.buffer.read())
sys.stdout.buffer.write({form})
"""


@pytest.mark.parametrize("form", ["signature", "signature.hex().encode() + b'\\n'"])
def test_a_signer_elsewhere_prints_bytes_or_digits(tmp_path: Path, form: str) -> None:
    path = new_key(tmp_path)
    signer = SignerCommand(python(SIGN.format(path=str(path), form=form)), KeyFile(path).public)
    assert signer.sign(b"message") == KeyFile(path).sign(b"message")


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (python("print('x')"), "printed no Ed25519 signature"),
        (python("print('00')"), "printed no Ed25519 signature"),
        (python("raise SystemExit(3)"), "ended with status 3"),
        ("/nowhere/at/all", "cannot be run: No such file"),
    ],
)
def test_a_signer_that_fails_says_how(command: str, fault: str) -> None:
    with pytest.raises(StoreFailed, match=f"audit.seal.signer {fault}"):
        SignerCommand(command, "").sign(b"")


@pytest.mark.parametrize("command", ["", "'", "a\0b"])
def test_what_is_no_command_is_misconfigured(command: str) -> None:
    with pytest.raises(Misconfigured, match="is no command"):
        SignerCommand(command, "").sign(b"")


def test_a_command_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_commands, "SECONDS", 0.2)
    with pytest.raises(StoreFailed, match="did not end within"):
        CommandSink(python("import time; time.sleep(600)")).deliver(LINES)


def test_a_file_grows_and_is_private(tmp_path: Path) -> None:
    sink = FileSink(str(tmp_path / "out"))
    sink.deliver(LINES)
    sink.deliver(LINES)
    assert (tmp_path / "out").read_text(encoding="utf-8") == SENT * 2
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o600
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "no" / "out", "No such file")):
        with pytest.raises(StoreFailed, match=f"cannot be written: {why}"):
            FileSink(str(path)).deliver(LINES)
    with pytest.raises(StoreFailed, match="it is no path"):
        FileSink("a\0b").deliver(LINES)


def test_a_file_that_could_not_take_all_lines_has_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink, write = FileSink(str(tmp_path / "out")), os.write
    sink.deliver(LINES)
    before = (tmp_path / "out").read_bytes()
    left = [3]

    def full(descriptor: int, data: bytes) -> int:
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[: left.pop()])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreFailed, match="No space left"):
        sink.deliver(LINES)
    assert (tmp_path / "out").read_bytes() == before


def test_a_command_gets_the_lines(tmp_path: Path) -> None:
    program = f"import sys; open({str(tmp_path / 'got')!r}, 'wb').write(sys.stdin.buffer.read())"
    sink = CommandSink(python(program))
    sink.deliver(LINES)
    assert (tmp_path / "got").read_text(encoding="utf-8") == SENT
    assert sink.name == f"command {sys.executable}"


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[bytes], list[int]]]:
    """A server that keeps what is posted, and answers with the status that it is told."""
    got: list[bytes] = []
    status = [204]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status[0])
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/secret-path", got, status
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_url_gets_the_lines_and_only_a_2xx_takes_them(
    receiver: tuple[str, list[bytes], list[int]],
) -> None:
    url, got, status = receiver
    sink = UrlSink(url)
    sink.deliver(LINES)
    assert got == [SENT.encode()]
    assert "secret" not in sink.name
    for status[0] in (302, 404, 500):
        with pytest.raises(StoreFailed, match=f"answered HTTP {status[0]}"):
            sink.deliver(LINES)


def test_an_address_that_nobody_answers_is_a_failure_of_the_sink() -> None:
    with pytest.raises(StoreFailed, match="cannot be reached"):
        UrlSink("http://127.0.0.1:1/").deliver(LINES)


@pytest.mark.parametrize("url", ["http://logs.example/", "ftp://a.example", "x", "https://", "//["])
def test_an_address_that_is_read_on_the_way_is_refused(url: str) -> None:
    with pytest.raises(Misconfigured, match="must be an https:// address"):
        UrlSink(url)
