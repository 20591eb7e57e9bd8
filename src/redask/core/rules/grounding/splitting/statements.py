"""Sentences that state nothing about the world: `is_statement` leaves them out.

    a question                     ends in a question mark
    a greeting, a closing          "Hello", "Sure!", "I hope this helps."; only without a marker
    the data does not say          "The sources do not mention …", "No price is given in the data",
                                   "I found nothing …", "There is no information about …"; not if
                                   the sentence goes on with but, however, although …
    no word                        punctuation alone

In English; a sentence of another language is a statement. Each pattern is anchored at the
beginning and has bounded parts, so time is linear in the sentence.
"""

import re

from redask.core.text import compiled_later

_WORD = re.compile(r"[^\W_]")
_QUESTION = re.compile(r"[?？][\"'“”’»)\]*_ ]*+$")
_COURTESY = compiled_later(
    r"(?:(?:hello|hi|hey|dear|greetings|good (?:morning|afternoon|evening)|sure|certainly"
    r"|of course|absolutely|great question|good question|thanks?|you're welcome"
    r"|(?:best|kind|warm) (?:regards|wishes)|regards|sincerely|cheers)\b(?:[ ,]++[a-z']++){0,6}+"
    r"|(?:please )?(?:let me know|feel free|i hope th(?:is|at|ese)|hope th(?:is|at|ese)"
    r"|i(?:'m| am) (?:happy|glad) to|happy to help)\b[^.!?0-9]*+"
    r"|(?:sure[,!] |certainly[,!] )?here(?:'s| is| are)\b[^.!?0-9]*+:)[.!,:]*+",
    re.IGNORECASE,
)
_HOLDER = (
    r"(?:data|sources?|passages?|documents?|texts?|context|information|records?|rows?|tables?"
    r"|excerpts?|materials?|articles?|database|collections?|question)"
)
_W = r"[\w'’-]{1,32}+[ ,]{1,2}"
_NOT = r"(?:(?:do|does|did)(?: not|n['’]t)|cannot|can(?: not|n['’]t)) (?:[a-z]{1,16} )?"
_SAY = (
    r"(?:mention|state|say|specify|give|provide|contain|include|indicate|hold|answer|tell|describe"
    r"|address|cover|discuss|list|show|have|reveal|explain|define|name|identify)"
)
_SAID = (
    r"(?:mentioned|stated|said|specified|given|provided|contained|included|indicated|answered"
    r"|described|addressed|covered|discussed|listed|found|known|available|clear|present|named)"
)
_SILENT = re.compile(
    rf"(?:{_W}){{0,4}}?{_HOLDER}(?: [\w'’-]{{1,32}}+){{0,3}}? (?:{_NOT}{_SAY}\b"
    rf"|(?:say|says|said) nothing\b|(?:contain|hold|give|provide|include|ha(?:s|ve)|offer)s? no\b)"
    rf"|(?:{_W}){{0,12}}?(?:is|are|was|were) (?:not|n['’]t|nowhere) {_SAID} (?:in|by|from) "
    rf"(?:{_W}){{0,3}}?{_HOLDER}\b"
    rf"|(?:{_W}){{0,3}}?(?:there (?:is|was|are|were) )?(?:no|not enough|insufficient) "
    r"(?:further |other |specific |relevant )?(?:information|mention|details?|answer)\b"
    rf"|(?:{_W}){{0,3}}?i (?:found nothing|found no|have no|(?:could|can|did|do)(?: not|n['’]t) "
    r"(?:find|know|answer|determine|say|tell|have)|cannot (?:find|answer|determine|say|tell))\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"\b(?:but|however|although|though|yet|except|while|whereas)\b|;", re.I)


def is_statement(sentence: str, *, cited: bool) -> bool:
    """Whether a sentence of an answer, without its markers, states something."""
    if not _WORD.search(sentence) or _QUESTION.search(sentence):
        return False
    if not cited and _COURTESY.fullmatch(sentence):
        return False
    return _SILENT.match(sentence) is None or _GOES_ON.search(sentence) is not None
