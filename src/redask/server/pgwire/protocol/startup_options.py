"""The start-up parameter `options`: `startup_options(text)` → names and values.

    -c name=value   -cname=value   --name=value      a backslash takes the next character as it is

What else a command line of PostgreSQL may hold is refused, 42601.
"""

from redask.server.pgwire.protocol.sqlstate_error import SqlStateError


def startup_options(text: str) -> list[tuple[str, str]]:
    """The settings in order; the last one of a name counts."""
    words = _words(text)
    found: list[tuple[str, str]] = []
    while words:
        word = words.pop(0)
        given = word
        if word == "-c" and words:
            given = words.pop(0)
        elif word.startswith(("--", "-c")):
            given = word[2:]
        else:
            raise _invalid(word)
        name, equals, value = given.partition("=")
        if not name:
            raise _invalid(word)
        if not equals:
            raise SqlStateError("42601", f"-c {name[:100]} requires a value")
        found.append((name.replace("-", "_"), value))
    return found


def _invalid(word: str) -> SqlStateError:
    return SqlStateError("42601", f"invalid command-line argument for server process: {word[:100]}")


def _words(text: str) -> list[str]:
    words, word, is_open, place = [], "", False, 0
    while place < len(text):
        letter = text[place]
        if letter == "\\" and place + 1 < len(text):
            place += 1
            word, is_open = word + text[place], True
        elif letter.isspace():
            if is_open:
                words.append(word)
            word, is_open = "", False
        else:
            word, is_open = word + letter, True
        place += 1
    return [*words, word] if is_open else words
