"""Reads the tokens of a statement that PostgreSQL's parser is not asked for: `TokenReader(sql)`.

A name is folded to lower case unless it is quoted, and cut to 63 bytes. What is wrong is an
`SqlError` 42601 with PostgreSQL's words and the position.
"""

from redask.core.errors import SqlError
from redask.server.pgwire.session.splitting import tokens, unescaped, value

_MAX_NAME = 63
_MAX_INT = 2**31


class TokenReader:
    """The tokens of one statement, from the first to the last."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self._tokens = [each for each in tokens(sql) if each[0] not in ("space", "end")]
        self._at = 0

    @property
    def word(self) -> str:
        """The word that comes next, in capitals; empty for anything else."""
        return self.text.upper() if self._kind == "word" else ""

    @property
    def text(self) -> str:
        """What comes next, as it is written; empty at the end."""
        if self._at >= len(self._tokens):
            return ""
        _, start, end = self._tokens[self._at]
        return self.sql[start:end]

    @property
    def start(self) -> int:
        """Where what comes next starts."""
        return self._tokens[self._at][1] if self._at < len(self._tokens) else len(self.sql)

    @property
    def is_last(self) -> bool:
        """Whether what comes next is the last token."""
        return self._at == len(self._tokens) - 1

    def take(self, *words: str) -> bool:
        """Take these words or marks, if they come next, all of them."""
        for ahead, each in enumerate(words):
            place = self._at + ahead
            if place >= len(self._tokens) or self._tokens[place][0] in ("string", "quoted"):
                return False
            _, start, end = self._tokens[place]
            if self.sql[start:end].upper() != each:
                return False
        self._at += len(words)
        return True

    def need(self, *words: str) -> None:
        """Take these words, which must come next."""
        for each in words:
            if not self.take(each):
                raise self.wrong()

    def name(self) -> str:
        """Take a name."""
        text = self.text
        if self._kind == "quoted" and len(text) > 2:
            found = value(text)
        elif self._kind == "word":
            found = text.lower()
        else:
            raise self.wrong()
        self._at += 1
        return found.encode()[:_MAX_NAME].decode(errors="ignore")

    def string(self) -> str:
        """Take a text in quotes."""
        text = self.text
        if self._kind not in ("string", "escaped"):
            raise self.wrong()
        self._at += 1
        if text[:1] == "$":
            tag = text[: text.index("$", 1) + 1]
            return text[len(tag) : -len(tag)]
        return value(unescaped(text))

    @property
    def is_string(self) -> bool:
        """Whether a text in quotes comes next."""
        return self._kind in ("string", "escaped")

    def integer(self) -> int | None:
        """Take a whole number with its sign, if one comes next."""
        start = self._at
        sign = -1 if self.take("-") else 1
        if sign == 1:
            self.take("+")
        text = self.text
        if text.isdecimal() and text.isascii() and int(text) < _MAX_INT:
            self._at += 1
            return sign * int(text)
        self._at = start
        return None

    def group(self) -> tuple[int, int]:
        """Take what stands in parentheses. → where it starts and ends in the text"""
        self.need("(")
        start, depth = self.start, 1
        while depth:
            if self._at >= len(self._tokens):
                raise self.wrong()
            if self._kind == "other" and self.text in "()[]":
                depth += 1 if self.text in "([" else -1
            end = self.start
            self._at += 1
        return start, end

    def end(self) -> None:
        """Nothing may follow."""
        if self._at < len(self._tokens):
            raise self.wrong()

    def wrong(self) -> SqlError:
        """The error of what comes next."""
        if self._at >= len(self._tokens):
            return SqlError("42601", "syntax error at end of input", position=len(self.sql) + 1)
        message = f'syntax error at or near "{self.text[:100]}"'
        return SqlError("42601", message, position=self.start + 1)

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""
