"""Snapshots in a bucket of an S3-compatible store: `S3Place("s3://bucket/prefix")`.

By boto3 (extra `s3`), which finds address and credentials as every program of AWS does: by
`AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID`, profiles, roles. Who may read the bucket is its owner's to
say; it holds what the database holds.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from redask.core.errors import Misconfigured, StoreFailed
from redask.index import private_files

try:
    import boto3
    from boto3.exceptions import Boto3Error
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError:
    raise Misconfigured(
        "snapshots in an object store need boto3: pip install 'redask[s3]'",
        detail="serve.snapshots",
    ) from None

_CONNECT_SECONDS, _READ_SECONDS, _ATTEMPTS = 5, 30, 3
_MISSING = {"NoSuchKey", "404"}


class S3Place:
    """See `snapshot_places.SnapshotPlace`."""

    def __init__(self, location: str) -> None:
        parts = urlsplit(location)
        self._bucket, self._prefix = parts.netloc, parts.path.strip("/")
        if not self._bucket or parts.query or parts.fragment or "@" in self._bucket:
            raise Misconfigured(
                "a place for snapshots is s3://bucket/prefix", detail="serve.snapshots"
            )
        config = Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"max_attempts": _ATTEMPTS, "mode": "standard"},
        )
        with _failures():
            self._client = boto3.client("s3", config=config)

    def read(self, name: str, most: int) -> bytes | None:
        """See `SnapshotPlace`."""
        with _failures():
            try:
                found = self._client.get_object(Bucket=self._bucket, Key=self._key(name))
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") in _MISSING:
                    return None
                raise
            return bytes(found["Body"].read(most))

    def replace(self, name: str, content: bytes) -> None:
        """See `SnapshotPlace`; an object is there as a whole, or as it was before."""
        with _failures():
            self._client.put_object(Bucket=self._bucket, Key=self._key(name), Body=content)

    def send(self, path: Path, name: str) -> None:
        """See `SnapshotPlace`."""
        with _failures():
            self._client.upload_file(str(path), self._bucket, self._key(name))

    def fetch(self, name: str, path: Path) -> None:
        """See `SnapshotPlace`."""
        private_files.make_directory(path.parent)
        with _failures():
            descriptor = private_files.open_file(path, os.O_WRONLY | os.O_EXCL)
            with os.fdopen(descriptor, "wb") as file:
                self._client.download_fileobj(self._bucket, self._key(name), file)
                file.flush()
                os.fsync(file.fileno())

    def folders(self, name: str) -> dict[str, float]:
        """See `SnapshotPlace`."""
        found: dict[str, float] = {}
        start = self._key(name) + "/"
        for each in self._objects(start):
            folder, slash, _ = each["Key"].removeprefix(start).partition("/")
            if slash:
                found[folder] = max(found.get(folder, 0.0), each["LastModified"].timestamp())
        return found

    def remove(self, name: str) -> None:
        """See `SnapshotPlace`."""
        for each in list(self._objects(self._key(name) + "/")):
            with _failures():
                self._client.delete_object(Bucket=self._bucket, Key=each["Key"])

    def _objects(self, start: str) -> "Iterator[dict]":  # type: ignore[type-arg]  # boto3's
        with _failures():
            pages = self._client.get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=self._bucket, Prefix=start):
                yield from page.get("Contents", ())

    def _key(self, name: str) -> str:
        return f"{self._prefix}/{name}" if self._prefix else name


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError, Boto3Error) as error:
        code = (
            error.response.get("Error", {}).get("Code", "")
            if isinstance(error, ClientError)
            else ""
        )
        raise StoreFailed(
            f"the object store of snapshots cannot be used: {code or type(error).__name__}"
        ) from error
    except OSError as error:
        raise StoreFailed(f"a snapshot cannot be written here: {error.strerror}") from error
