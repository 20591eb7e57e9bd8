"""E-mail: heads, bodies, threads, and what is damaged or hostile."""

import os
from pathlib import Path

import pytest
from filing import contents, edges, write, zipped

import redask
from redask.ingest.readers.messages import mail

FIRST = """\
From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
To: Ada <ada@example.org>
Subject: Ferry times
Date: Mon, 3 Mar 2025 09:15:00 +0100
Message-ID: <1@example.org>

When does it leave?
"""
REPLY = """\
From: Ada <ada@example.org>
To: j@example.org
Subject: Re: Ferry times
Date: nonsense
Message-ID: <2@example.org>
In-Reply-To: <1@example.org>
References: <1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=X

--X
Content-Type: text/html; charset=utf-8

<p>At <b>nine</b>.</p>
--X
Content-Type: application/pdf
Content-Disposition: attachment; filename="plan.pdf"

x
--X--
"""


def test_a_message_is_read_with_its_head(db: redask.OpenDatabase, tmp_path: Path) -> None:
    write(tmp_path / "m" / "a.eml", FIRST)
    write(tmp_path / "m" / "b.eml", REPLY)
    assert db.ingest(tmp_path / "m").ok
    assert contents(db, "document:m/") == {
        "a.eml#top": {
            "title": "Ferry times",
            "from": "Jürgen <j@example.org>",
            "to": "Ada <ada@example.org>",
            "date": "2025-03-03T09:15:00+01:00",
            "thread": "1@example.org",
            "path": "a.eml",
            "text": "When does it leave?",
        },
        "b.eml#top": {
            "title": "Re: Ferry times",
            "from": "Ada <ada@example.org>",
            "to": "j@example.org",
            "thread": "1@example.org",
            "attachments": ["plan.pdf"],
            "path": "b.eml",
            "text": "At **nine**.",
        },
    }
    assert edges(db) == {("document:m/b.eml#top", "links to", "document:m/a.eml#top")}


def test_a_mailbox_is_its_messages_and_who_replies_to_whom(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    again = FIRST.replace("<1@", "<3@").replace("When", ">From here when")
    box = f"From j Mon\n{FIRST}\nFrom ada Tue\n{REPLY}\nFrom j Wed\n{again}"
    write(tmp_path / "list.mbox", box)
    assert db.ingest(tmp_path / "list.mbox").ok
    found = contents(db, "document:documents/list.mbox#")
    assert list(found) == ["ferry-times", "re-ferry-times", "ferry-times-2"]
    assert found["ferry-times-2"]["text"] == "From here when does it leave?"
    start = "document:documents/list.mbox#"
    assert edges(db) == {(f"{start}re-ferry-times", "replies to", f"{start}ferry-times")}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no head at all", "is no e-mail"),
        (b"From: a\0b\n\nx", "is no e-mail"),
        (
            b"Subject: x\n" + b"Content-Type: text/plain\n\n--X\n" * 2000,
            "has more than 1,000 parts",
        ),
    ],
)
def test_what_is_no_message_is_refused(
    db: redask.OpenDatabase, tmp_path: Path, data: bytes, reason: str
) -> None:
    (tmp_path / "a.eml").write_bytes(data)
    assert db.ingest(tmp_path / "a.eml").problems[0].reason.startswith(reason)


def test_bad_heads_and_encodings_are_read_as_far_as_they_go(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    head = b"From: \xff\xfe <a@b\nSubject: =?nope?q?x?=\nDate: Mon, 99 Foo 2025\nReferences: <<<>\n"
    (tmp_path / "a.eml").write_bytes(
        head + b"Content-Type: text/plain; charset=klingon\n\nHi \xff."
    )
    assert db.ingest(tmp_path / "a.eml").ok
    (chunk,) = contents(db, "document:").values()
    assert chunk["text"].startswith("Hi ")
    assert "date" not in chunk


def test_deep_mail_and_a_large_message_are_refused(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nest = b"Subject: x\n" + b"Content-Type: message/rfc822\n\n" * 900 + b"x"
    (tmp_path / "a.eml").write_bytes(nest)
    done = db.ingest(tmp_path / "a.eml")
    assert all("could not be read" not in problem.reason for problem in done.problems)
    monkeypatch.setattr(mail, "MAX_MESSAGE", 1000)
    write(tmp_path / "b.mbox", f"From x\n{FIRST}{'long ' * 300}\n")
    assert "more than 1,000 bytes" in db.ingest(tmp_path / "b.mbox").problems[0].reason


def _nested(levels: int) -> str:
    heads = (f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(levels))
    return "Subject: x\n" + "".join(heads) + "\nhello\n"


def test_parts_are_bounded_while_they_are_parsed(db: redask.OpenDatabase, tmp_path: Path) -> None:
    assert db.ingest(write(tmp_path / "a.eml", _nested(mail.MAX_NESTING))).ok
    write(tmp_path / "b" / "deep.eml", _nested(mail.MAX_NESTING + 1))
    without_heads = "Subject: x\nContent-Type: multipart/mixed; boundary=b\n" + "\n--b\n" * 2000
    write(tmp_path / "b" / "many.eml", without_heads)
    assert [problem.reason for problem in db.ingest(tmp_path / "b").problems] == [
        "is nested too deep",
        "has more than 1,000 parts",
    ]


def test_long_fields_are_cut_before_they_are_parsed() -> None:
    many = "; ".join(f"a*{n}=b" for n in range(20_000))
    ids = " ".join(f"<{n}@example.org>" for n in range(20_000))
    text = f"Subject: {'=?utf-8?q?a?= ' * 200_000}\nTo: {'a@b.c, ' * 100_000}\n"
    text += f"References: {ids}\nContent-Type: text/plain; {many}\n\nhello\n"
    message = mail._parsed(text.encode())
    assert all(len(str(value)) < 5000 for _, value in message.raw_items())
    assert len(message["content-type"].params) <= mail._MAX_PARAMETERS
    head = mail._head(message)
    assert head.title.startswith("a" * 250)
    assert (head.fields["thread"], head.parent_id) == ("0@example.org", "19999@example.org")


def test_a_pipe_beside_a_reply_is_not_opened(db: redask.OpenDatabase, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.eml")
    write(tmp_path / "b.eml", REPLY)
    assert db.ingest(tmp_path / "b.eml").ok


def test_a_reply_inside_an_archive_is_read(db: redask.OpenDatabase, tmp_path: Path) -> None:
    (tmp_path / "m.zip").write_bytes(zipped({"b.eml": REPLY, "c/b.eml": REPLY}))
    assert db.ingest(tmp_path / "m.zip").ok
    assert set(contents(db, "document:m/")) == {"b.eml#top", "c%2Fb.eml#top"}
