"""The lexer of ASK statements: `Cursor` reads tokens from left to right, on demand.

    word      [A-Za-z_][A-Za-z0-9_]*
    quoted    "name", where "" is a quote
    string    'text', where '' is a quote
    number    5  0.5  .5  1e-1   without sign
    param     ?  or  $1
    mark      ,  ;
    end       end of the input
    fault     anything else: an unterminated string, 5abc, a stray character

White space and SQL comments (`-- …` to the end of the line, `/* … */`, which may nest) separate
tokens. A fault is a token like any other: the parser reports it together with what it expected.
Every step moves forward: the time is linear.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from redask.core.errors import BadStatement
from redask.core.text import codepoint, compiled_later
from redask.core.values import shown


class Form(Enum):
    """The kind of a token."""

    WORD = "word"
    QUOTED = "quoted"
    STRING = "string"
    NUMBER = "number"
    PARAM = "param"
    MARK = "mark"
    END = "end"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its value (without quotes), where it starts, and how to name it."""

    form: Form
    value: str
    start: int
    found: str


_SPACE = re.compile(r"(?:[ \t\n\r\f\v]|--[^\n]*)+")
_COMMENT_EDGE = re.compile(r"/\*|\*/")
_TOKEN = compiled_later(
    r"""(?P<word>[A-Za-z_][A-Za-z0-9_]*+)
      | (?P<quoted>"[^"]*+(?:""[^"]*+)*+")
      | (?P<string>'[^']*+(?:''[^']*+)*+')
      | (?P<number>(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?![A-Za-z0-9_.]))
      | (?P<param>\?|\$[0-9]++)
      | (?P<mark>[,;])
      | (?P<fault>[0-9.][A-Za-z0-9_.]*+)""",
    re.VERBOSE,
)
_UNTERMINATED = {"'": "an unterminated string", '"': "an unterminated quoted name"}


class Cursor:
    """The statement and the next token of it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self.token = self._read()

    def advance(self) -> Token:
        """The current token; the cursor moves past it."""
        token = self.token
        self.token = self._read()
        return token

    def take_word(self, *words: str) -> str | None:
        """The keyword in capitals, if the next token is one of these; else the cursor stays."""
        word = self.token.value.upper()
        if self.token.form is not Form.WORD or word not in words:
            return None
        self.advance()
        return word

    def take_mark(self, mark: str) -> bool:
        """Whether the next token is this mark; if so, the cursor moves past it."""
        if self.token.form is not Form.MARK or self.token.value != mark:
            return False
        self.advance()
        return True

    def expect(self, expected: str, *forms: Form) -> Token:
        """The next token if it has one of these forms; else the statement is refused."""
        if self.token.form not in forms:
            self.refuse(expected)
        return self.advance()

    def refuse(self, expected: str, found: str | None = None, at: int | None = None) -> NoReturn:
        """Refuse the statement at a position: by default, at the next token."""
        start = self.token.start if at is None else at
        line = self._text.count("\n", 0, start) + 1
        column = start - self._text.rfind("\n", 0, start)
        raise BadStatement(line, column, self.token.found if found is None else found, expected)

    def _read(self) -> Token:
        start = self._skip()
        if start is None:
            return Token(Form.FAULT, "", self._position, "an unterminated comment")
        if start == len(self._text):
            return Token(Form.END, "", start, "the end of the statement")
        match = _TOKEN.match(self._text, start)
        if match is None or match.lastgroup is None:
            return Token(Form.FAULT, "", start, _stray(self._text[start]))
        self._position = match.end()
        form, text = Form(match.lastgroup), match[0]
        if form in (Form.STRING, Form.QUOTED):
            value = text[1:-1].replace(text[0] * 2, text[0])
            return Token(form, value, start, shown(value))
        return Token(form, text, start, text if len(text) <= 32 else text[:31] + "…")

    def _skip(self) -> int | None:
        """The position after white space and comments; None in an unterminated comment."""
        while True:
            space = _SPACE.match(self._text, self._position)
            if space:
                self._position = space.end()
            if not self._text.startswith("/*", self._position):
                return self._position
            depth, position = 1, self._position + 2
            while depth:
                edge = _COMMENT_EDGE.search(self._text, position)
                if edge is None:
                    return None
                depth += 1 if edge[0] == "/*" else -1
                position = edge.end()
            self._position = position


def _stray(character: str) -> str:
    if character in _UNTERMINATED:
        return _UNTERMINATED[character]
    return character if " " < character <= "~" else f"the character {codepoint(character)}"
