"""What the operator of this machine chose: a configuration file, and secrets kept elsewhere.

    REDASK_CONFIG                       the file; else redask/redask.toml in $XDG_CONFIG_HOME or
                                        ~/.config. Misconfigured if it is named and not there, or
                                        others may write it: it says where keys go
    REDASK_OPENAI_API_KEY_FILE          a file that holds the key, such as a mounted secret
    REDASK_OPENAI_API_KEY_COMMAND       a command that prints it, such as `pass show openai`; run
                                        once a process, without a shell, within SECONDS

Every variable of `endpoints.secret_variables` may be given in these ways, and only in one of them.
What a file or a command said is in no message.
"""

import os
import shlex
import stat
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from redask.core.endpoints import secret_variables
from redask.core.errors import Misconfigured

CONFIG = "REDASK_CONFIG"
SECONDS = 30.0
_MOST_BYTES = 64 * 1024


def configuration(env: Mapping[str, str]) -> str:
    """The text of the operator's own file; nothing when there is none."""
    named = env.get(CONFIG)
    file = Path(named) if named else _usual_place(env)
    try:
        if not named and not file.is_file():
            return ""
        if os.name != "nt" and stat.S_IMODE(file.stat().st_mode) & 0o022:
            raise Misconfigured(
                f"{shown(file)} may be changed by others: run `chmod go-w {shown(file)}`",
                detail=CONFIG,
            )
        return file.read_text(encoding="utf-8")
    except (OSError, RuntimeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{shown(file)} cannot be read: {error}", detail=CONFIG) from None


def written(file: Path) -> str:
    """What a file of the user's says; nothing when there is none."""
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from None


def with_secrets(env: Mapping[str, str]) -> dict[str, str]:
    """The environment, with the secrets that it names by file or command."""
    found = dict(env)
    for variable in secret_variables():
        told = secret(variable, env)
        if told is not None:
            found[variable] = told
    return found


def secret(variable: str, env: Mapping[str, str]) -> str | None:
    """The secret of a variable, by itself, by file or by command; None if it is not given."""
    ways = [f"{variable}{end}" for end in ("", "_FILE", "_COMMAND") if env.get(variable + end)]
    if len(ways) > 1:
        raise Misconfigured(f"{ways[0]} and {ways[1]} are both set: choose one", detail=ways[1])
    if not ways or ways[0] == variable:
        return env.get(variable) or None
    read = _from_file if ways[0].endswith("_FILE") else _from_command
    return read(ways[0], env[ways[0]])


def _from_file(variable: str, path: str) -> str:
    try:
        with open(path, "rb") as file:
            return _secret(variable, file.read(_MOST_BYTES + 1))
    except OSError as error:
        message = f"{variable}: {shown(Path(path))} cannot be read: {error.strerror}"
        raise Misconfigured(message, detail=variable) from None
    except ValueError:  # a NUL in the path
        raise Misconfigured(f"{variable} names no file", detail=variable) from None


@lru_cache(64)
def _from_command(variable: str, command: str) -> str:
    try:
        words = shlex.split(command)
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        fault = f"did not end within {SECONDS:.0f} seconds"
    except subprocess.CalledProcessError as error:
        fault = f"ended with status {error.returncode}"
    except OSError as error:
        fault = f"cannot be run: {error.strerror}"
    except ValueError:
        fault = "is no command"
    else:
        return _secret(variable, done.stdout)
    raise Misconfigured(f"{variable}: the command {fault}", detail=variable) from None


def _secret(variable: str, content: bytes) -> str:
    try:
        secret = content.decode().strip()
    except UnicodeDecodeError:
        secret = ""
    if not secret or len(content) > _MOST_BYTES:
        raise Misconfigured(f"{variable} leads to no secret: one line is expected", detail=variable)
    return secret


def _usual_place(env: Mapping[str, str]) -> Path:
    home = env.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(home) / "redask" / "redask.toml"


def shown(path: Path) -> str:
    """A path, quoted for a shell and safe for a terminal."""
    text = str(path)
    return shlex.quote(text) if text.isprintable() else ascii(text)
