"""A certificate for this machine, signed by itself, and its key, as files."""

import subprocess
from pathlib import Path


def pair(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "cert.pem", folder / "key.pem"
    words = f"openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {key}"
    more = f"-out {certificate} -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([*words.split(), *more.split()], check=True, capture_output=True)
    return certificate, key
