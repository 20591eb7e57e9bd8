"""A command of the operator's that is given bytes: `run_command`; and one that signs them.

It is run without a shell, within SECONDS. What it prints on its standard error is not read.
"""

import shlex
import subprocess

from redask.core.errors import Misconfigured, StoreFailed

SECONDS = 10.0
_SIGNATURE = 64


class SignerCommand:
    """A signer elsewhere, such as a hardware module: the message on its standard input.

    It prints the signature, as 64 bytes or 128 hex digits.
    """

    def __init__(self, command: str, public: str) -> None:
        self._command = command
        self.public = public

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        printed = run_command(self._command, message, "audit.seal.signer")
        if len(printed) == _SIGNATURE:
            return printed
        try:
            signature = bytes.fromhex(printed.decode())
        except ValueError:
            signature = b""
        if len(signature) != _SIGNATURE:
            raise StoreFailed("audit.seal.signer printed no Ed25519 signature")
        return signature


def run_command(command: str, given: bytes, setting: str) -> bytes:
    """What a command prints when it is given these bytes; `StoreFailed` if it fails."""
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words,
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise StoreFailed(f"{setting} did not end within {SECONDS:.0f} seconds") from None
    except subprocess.CalledProcessError as error:
        raise StoreFailed(f"{setting} ended with status {error.returncode}") from None
    except OSError as error:
        raise StoreFailed(f"{setting} cannot be run: {error.strerror}") from None
    except (ValueError, IndexError):
        raise Misconfigured(f"{setting} is no command", detail=setting) from None
    return done.stdout
