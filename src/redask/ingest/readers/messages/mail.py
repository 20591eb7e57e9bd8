"""E-mail: .eml is one message, .mbox many; each becomes chunks with what its head says.

    title          the subject
    from, to, cc   as they are written, decoded
    date           ISO 8601, with the offset that was written; left out if it is none
    thread         the first of References, else In-Reply-To, else its own Message-ID
    attachments    their names; they are not read
    text           the plain text, else the HTML as text
    label          of a message in a .mbox: its subject
    edge           `replies to`, between messages of one .mbox; `links to`, from an .eml file to one
                   that is beside it

Replies are found by In-Reply-To, else by the last of References. A message has at most MAX_MESSAGE
bytes, MAX_PARTS parts and MAX_NESTING levels of them; its fields are cut before they are parsed. A
head that cannot be decoded is read as far as it can be.
"""

import email
import os
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from email.message import EmailMessage
from email.policy import EmailPolicy
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, NamedTuple

from redask.core.errors import BadAsk
from redask.core.model import Urn
from redask.ingest.readers import chunks, content, documents, passages
from redask.ingest.readers.outlines import OutlineBuilder
from redask.ingest.records import OpenedFile, ReadEdge, ReadItem, ReadLink, ReadRecord

MAX_MESSAGE = 32 * 1024 * 1024
MAX_PARTS = 1000
MAX_NESTING = 20
_MAX_PARAMETERS = 20
REPLY = "replies to"
MAX_SIBLINGS = 10_000
_MAX_FIELD = 4000
_MAX_CONTENT_FIELD = 1000
_HEAD_BYTES = 16 * 1024
_KNOWN_FIELD = re.compile(
    rb"^(?:from|to|subject|date|message-id|received|return-path):", re.I | re.M
)
_MESSAGE_ID = re.compile(rb"^message-id:\s{0,20}<([^<>\s]{1,500})>", re.I | re.M)
_QUOTED_FROM = re.compile(rb">{1,20}From ")
_ID = re.compile(r"<([^<>\s]{1,500})>")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_FROM = b"From "


class MailHead(NamedTuple):
    """What the head of a message says."""

    title: str
    fields: dict[str, object]
    own_id: str
    parent_id: str


def read_message(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of one message, and a link to the message that it replies to."""
    message = _parsed(file.data)
    head = _head(message)
    builder = OutlineBuilder()
    _add_body(builder, message)
    folder = os.path.dirname(file.found.path)
    is_first = True
    for record in passages.read(file.found, builder.outline(headed=False), head.title, head.fields):
        yield record
        if is_first and isinstance(record, ReadItem) and head.parent_id:
            parent = _sibling(folder, head.parent_id)
            if parent and parent != file.found.path:
                yield ReadLink(record.address, parent, "")
        is_first = False


def read_mailbox(file: OpenedFile) -> Iterator[ReadRecord]:
    """The chunks of every message, then an edge for every reply to another one."""
    by_id: dict[str, Urn] = {}
    replies: list[tuple[Urn, str]] = []
    used, last = set[str](), Counter[str]()
    for data in _messages(file):
        message = _parsed(data)
        head = _head(message)
        builder = OutlineBuilder()
        _add_body(builder, message)
        label = start = chunks.slug(head.title)
        while label in used:
            last[start] = max(1, last[start]) + 1
            label = f"{start}-{last[start]}"
        used.add(label)
        outline = builder.outline(headed=False)
        found = passages.read(file.found, outline, head.title, head.fields)
        for number, record in enumerate(each for each in found if isinstance(each, ReadItem)):
            part = (record.address.fragment or "").removeprefix(chunks.TOP)
            address = replace(record.address, fragment=f"{label}{part}")
            yield ReadItem(address, record.content)
            if number == 0:
                by_id.setdefault(head.own_id, address)
                replies.append((address, head.parent_id))
    for source, parent in replies:
        if parent and parent in by_id and by_id[parent] != source:
            yield ReadEdge(source, REPLY, by_id[parent])


def _messages(file: OpenedFile) -> Iterator[bytes]:
    """The messages of a mailbox, one at a time: each begins with a line `From ` after a blank."""
    message: list[bytes] = []
    size = done = 0
    is_blank, is_inside = True, False
    with content.os_errors(), open(file.found.path, "rb") as raw:
        while line := raw.readline(MAX_MESSAGE):
            done += len(line)
            if is_blank and line.startswith(_FROM):
                if message:
                    yield b"".join(message)
                    file.advance(done)
                message, size, is_inside = [], 0, True
            elif not is_inside:
                if line.strip():
                    raise BadAsk("is no mailbox: its first line does not begin with `From `")
            else:
                size += len(line)
                if size > MAX_MESSAGE:
                    raise BadAsk(f"has a message of more than {MAX_MESSAGE:,} bytes")
                message.append(line[1:] if _QUOTED_FROM.match(line) else line)
            is_blank = not line.strip()
    if message:
        yield b"".join(message)


def _sibling(folder: str, message_id: str) -> str | None:
    """The file with this Message-ID; inside an archive there is no folder to look into."""
    try:
        return _siblings(folder, os.stat(folder).st_mtime_ns).get(message_id)
    except OSError:
        return None


@lru_cache(4)
def _siblings(folder: str, _: int) -> dict[str, str]:
    """The .eml files of a folder by their Message-ID; of the first MAX_SIBLINGS, by name."""
    found: dict[str, str] = {}
    with os.scandir(folder) as entries:  # a pipe is never opened: nobody may be at its other end
        paths = sorted(e.path for e in entries if e.name.lower().endswith(".eml") and e.is_file())
    for path in paths[:MAX_SIBLINGS]:
        with suppress(OSError), open(path, "rb") as file:
            if own := _MESSAGE_ID.search(file.read(_HEAD_BYTES)):
                found.setdefault(own[1].decode("ascii", "replace"), path)
    return found


class _BoundedMessage(EmailMessage):
    """Refuses a part that is too deep, or one too many, while the message is parsed."""

    def __init__(self, policy: Any = None) -> None:
        super().__init__(policy)
        self._depth = 0
        self._total = Counter[str]()  # of the whole message

    def attach(self, payload: Any) -> None:
        payload._depth, payload._total = self._depth + 1, self._total
        self._total["parts"] += 1
        if payload._depth > MAX_NESTING:
            raise BadAsk("is nested too deep")
        if self._total["parts"] > MAX_PARTS:
            raise BadAsk(f"has more than {MAX_PARTS:,} parts")
        super().attach(payload)


class _BoundedPolicy(EmailPolicy):
    """Cuts a field before it is parsed: the library's parser of heads is not linear."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        if len(value) > _MAX_FIELD and name.lower() == "references":  # the first and the last count
            half = _MAX_FIELD // 2 - 1
            return name, f"{value[:half]} {value[-half:]}"
        if not name.lower().startswith("content-"):
            return name, value[:_MAX_FIELD]
        value = ";".join(value[:_MAX_CONTENT_FIELD].split(";")[: _MAX_PARAMETERS + 1])
        with suppress(Exception):  # parsed here once, else whenever it is looked at
            return name, self.header_fetch_parse(name, value)
        return name, value


_POLICY: Any = _BoundedPolicy()


def _parsed(data: bytes) -> EmailMessage:
    head = data[:_HEAD_BYTES]
    if not _KNOWN_FIELD.search(head) or b"\0" in head:
        raise BadAsk("is no e-mail: it has no head, or is damaged")
    if data.lower().count(b"\ncontent-type:") > MAX_PARTS:
        raise BadAsk(f"has more than {MAX_PARTS:,} parts")
    try:
        return email.message_from_bytes(data, _class=_BoundedMessage, policy=_POLICY)
    except (RecursionError, LookupError, ValueError) as error:
        raise BadAsk(f"is damaged: {type(error).__name__}") from None


def _head(message: EmailMessage) -> MailHead:
    own = _ids(_field(message, "message-id"))
    above = _ids(_field(message, "references"))
    parents = _ids(_field(message, "in-reply-to")) or above[-1:]
    fields: dict[str, object] = {
        name: text for name in ("from", "to", "cc") if (text := _field(message, name))
    }
    if sent := _date(_field(message, "date")):
        fields["date"] = sent
    if thread := [*above[:1], *parents, *own][:1]:
        fields["thread"] = thread[0]
    if names := [name for part in _parts(message) if (name := _attached(part))]:
        fields["attachments"] = names
    title = _field(message, "subject") or "(no subject)"
    return MailHead(title[:300], fields, (own or [""])[0], (parents or [""])[0])


def _field(message: EmailMessage, name: str) -> str:
    """A field of the head, decoded; as it is written if that fails."""
    try:
        value = str(message.get(name, ""))
    except Exception:  # the library's parser of heads has errors of every kind
        raw = next((text for key, text in message.raw_items() if key.lower() == name), "")
        value = str(raw)
    return " ".join(_UNPRINTABLE.sub(" ", value[:_MAX_FIELD]).split())


def _date(text: str) -> str:
    try:
        return parsedate_to_datetime(text).isoformat() if text else ""
    except (ValueError, TypeError, OverflowError):
        return ""


def _ids(text: str) -> list[str]:
    return _ID.findall(text)


def _parts(message: EmailMessage) -> Iterator[EmailMessage]:
    """The parts of a message that are no containers, without recursion into mails in mails."""
    try:
        for number, part in enumerate(message.walk()):
            if number > MAX_PARTS:
                raise BadAsk(f"has more than {MAX_PARTS:,} parts")
            if isinstance(part, EmailMessage) and not part.is_multipart():
                yield part
    except RecursionError:
        raise BadAsk("is nested too deep") from None


def _attached(part: EmailMessage) -> str:
    try:
        name = part.get_filename()
    except Exception:
        name = None
    return " ".join(_UNPRINTABLE.sub(" ", str(name)[:300]).split()) if name else ""


def _add_body(builder: OutlineBuilder, message: EmailMessage) -> None:
    texts: dict[str, list[str]] = {"text/plain": [], "text/html": []}
    for part in _parts(message):
        kind = part.get_content_type()
        if kind in texts and not _attached(part):
            texts[kind].append(_decoded(part))
    plain = "\n\n".join(texts["text/plain"])
    if not plain.strip() and any(map(str.strip, texts["text/html"])):
        plain = documents.html_text("\n".join(texts["text/html"]))
    block: list[str] = []
    for line in [*plain.split("\n"), ""]:
        if line.strip():
            block.append(line.rstrip())
        elif block:
            builder.block("\n".join(block))
            block = []


def _decoded(part: EmailMessage) -> str:
    """The text of a part: in the encoding that it names, else as UTF-8 as far as that goes."""
    data = part.get_payload(decode=True)
    raw = data if isinstance(data, bytes) else b""
    try:
        text = raw.decode(part.get_content_charset() or "utf-8")
    except (LookupError, UnicodeError, ValueError):
        text = raw.decode("utf-8", "replace")
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
