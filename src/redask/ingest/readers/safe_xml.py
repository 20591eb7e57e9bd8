"""XML without surprises: `walk` a document, with an `XmlHandler` that is told what is in it.

    entity declarations, references out of the file   refused: they are how bombs are made
    attribute declarations                            likewise: their defaults are put everywhere
    nesting                                           at most MAX_DEPTH
    names                                             without their namespace
    encoding                                          as declared; UTF-8 and UTF-16 without

Time and memory are linear: the document is read once and nothing is kept here.
"""

from xml.parsers import expat

from redask.core.errors import BadAsk

MAX_DEPTH = 200
_BLOCK = 256 * 1024
_SEPARATOR = "\x1f"


class XmlHandler:
    """Called in document order; a reader overrides what it wants to know."""

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        """An element begins."""

    def end(self, name: str, /) -> None:
        """It ends."""

    def text(self, text: str) -> None:
        """Text in it, possibly a part."""


def walk(data: bytes, handler: XmlHandler) -> None:
    """Tell the handler of every element and text."""
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise BadAsk(f"is nested too deep: more than {MAX_DEPTH} elements")
        local = {_local(key): value for key, value in attributes.items()}
        handler.start(_local(name), local)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        handler.end(_local(name))

    def refuse(*_: object) -> int:
        raise BadAsk("declares entities or attributes of its own: that is not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.AttlistDeclHandler = refuse
    try:
        for at in range(0, len(data), _BLOCK):
            parser.Parse(data[at : at + _BLOCK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise BadAsk(f"is not valid XML: line {error.lineno}: {reason}") from None
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise BadAsk(f"is not valid XML: {error}") from None


def _local(name: str) -> str:
    return name.rpartition(_SEPARATOR)[2]
