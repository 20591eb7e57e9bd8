"""What speaks for a line beside how many words of the question it has: `LineMerits`.

    + 0.5 · the share of its identifiers and quoted phrases that occur here literally; 0.3 in the
            heading above. "3.0" does not occur in "0.13.0"
    + 0.2 if the excerpt has the expected answer type (a name, a date, a number); 1 for the value
          of a default or a limit and for a version, which is all that is asked for
    + 0.6 if its section is headed by the identifier whose value is asked for, and it has the type;
          1.2 if it says nothing else ("Default: 3")
    + 1.2 if the question asks what something is or does, and it opens the section of that name;
          1 if it goes on there, of an identifier
    + 0.5 if it says what that is ("An xfail means …"), or one of two things that are compared
    + 0.6 if it is a heading with the date and an identifier that are asked about
    + 0.6 if the question asks where something is, and it has a path in code
    + 0.3 if the question is negated, and it is
    + 0.2 if the question asks how to do something, and it tells the reader to, or what must be done
    + 0.5 if the question compares two things, and it names and contrasts both
    + 0.3 if the question asks how to do something and the excerpt introduces code, 0.2 if it asks
          for a list and the excerpt introduces one, or counts up some: "two files: `a` and `b`"
    − 0.6 if it only refers to another place ("For more, see …"), introduces what is not there, or
          is nothing but code and links; 0.3 if it ends in such a referral
    − 0.4 if it is of a list of changes, or says what changed in a version, and the question is not
          about versions or changes; 1 where the value of a setting is asked for: it may be another
          by now
    − 0.6 if the question asks how to do something, and it is an entry of a help text
    − 0.2 if the question asks for a list, and it only points back at one: "These two files …"
    − 0.3 if it ends in a comma or semicolon: an item that is a part of a sentence
    − 0.3 · the part that is missing to eight words: headings, links and fragments are no sentences

Every pattern is bounded.
"""

import re
from collections.abc import Sequence

from redask.core.rules import terms
from redask.core.rules.grounding import polarity, stems
from redask.providers.extractive import expected_answer
from redask.providers.extractive.choice import comparing
from redask.providers.extractive.excerpts import Excerpt, QuotableSource
from redask.providers.extractive.expected_answer import AnswerShape, AnswerType

LITERALS = 0.5
LITERALS_ABOVE = 0.3
STEPS = 0.3
LISTED = 0.2
ANSWER_TYPE = 0.2
VALUE = 1.0
DEFINED = 0.6
DEFINITION = 1.2
EXPLANATION = 1.0
SAID = 0.5
COMPARED = 0.5
REFERRAL = 0.6
REFERRAL_AT_END = 0.3
CHANGES = 0.4
CHANGED_VALUE = 1.0
SHORT = 0.3
ENTRY = 0.6
FRAGMENT = 0.3
PLACE = 0.6
NEGATED = 0.3
INSTRUCTION = 0.2
_SENTENCE_WORDS = 8
_LEAST_WORDS = 4

_REFERRAL = re.compile(
    r"(?:for|see) [^.]{0,60}\b(?:see|refer to|information|details)\b|see ", re.IGNORECASE
)
_ENDS_IN_REFERRAL = re.compile(r"\bsee (?:the |also )?[\[`][^\n]{1,300}[\])`]\W{0,3}$")
_WORD = re.compile(r"[^\W\d_]{2}")
_WHY = re.compile(r"\W{0,4}(?:and |but |so )?why\b", re.IGNORECASE)
_REASON = re.compile(
    r"\b(?:because|so that|due to|in order to|reasons?|otherwise|therefore|this means|as a result"
    r"|in response to|to (?:avoid|prevent|ensure|protect)|not (?:designed|meant|intended))\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"\b(?:you (?:can|should|must|may|need to|have to|will)|should be|must be|please)\b"
    r"|^(?:to \w{2,20}\b|if you|use|run|call|set|add|go|open|click|select|choose|create|submit|send"
    r"|enter|contact|install|pass|write|import|start|make|put|define|enable|disable)\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"\W{0,4}(?:(?:an?|the) )?([^.,;:()]{2,60}?) "
    r"(?:is|are|means?|refers? to|stands? for|describes?) ",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"(?:new|added|changed|removed|deprecated) (?:in|since) ", re.IGNORECASE)
_FACT = re.compile(r"(?:type|default|value):", re.IGNORECASE)
_COUNTS_UP = re.compile(
    r"`[^`\n]{1,80}`(?:,? (?:and|or) |, )`[^`\n]{1,80}`"
    r"|\w: [^.:\n]{2,120}?(?:, [^.:,\n]{2,80}?){0,12},? (?:and|or) \w"
)
_POINTS_BACK = re.compile(
    r"(?:these|those|(?:both|all) of (?:these|those|them|the above))\b", re.IGNORECASE
)
_WHERE = re.compile(r"\W{0,4}where\b", re.IGNORECASE)
_PLACE = re.compile(r"`[^`\s]{0,80}[/\\][^`\s]{1,80}`")
_LINK = re.compile(
    r"!?\[[^\[\]]{0,300}\]\([^()\s]{1,500}\)|https?://\S{1,500}|`[^`]{1,200}`|\*\*\w{1,60}\*\*"
)
_WHAT_IS = re.compile(
    r"\W{0,4}what(?:'s|’s| is| are| does| do) (?:an? |the )?(?:purpose of (?:an? |the )?)?"
    r"([^?]{2,80}?)(?: (?:used )?for| do| mean)?\s{0,4}\??\s{0,4}$",
    re.IGNORECASE,
)
_KINDS = frozenset(
    """
    argument class command environment extension flag function hook library method module option
    package parameter plugin property setting variable
    """.split()
)
_CHANGE_FILE = re.compile(
    r"(?:^|/)(?:change[-_ ]?(?:s|log)|history|news|releases?(?:[-_ ]?notes?)?|whats?[-_ ]?new)"
    r"[^/]{0,30}$",
    re.IGNORECASE,
)
_CHANGE_HEADING = re.compile(
    r"\W{0,4}(?:change ?log|changes|release (?:history|notes)|version history|what['’]?s new)"
    r"\W{0,4}",
    re.IGNORECASE,
)
_VERSION_HEADING = re.compile(
    r"\W{0,3}(?:version |release )?v?[0-9]{1,4}(?:\.[0-9a-z]{1,8}){1,4}\b", re.IGNORECASE
)
_ABOUT_CHANGES = re.compile(
    r"^\W{0,4}when\b|\b(?:since|versions?|releases?|released|chang(?:e|es|ed|elog)|new|news|add(?:ed|ition)"
    r"|fix(?:ed|es)?|introduc\w{1,5}|remov(?:ed|al)|deprecat\w{1,5}|drop(?:s|ped)?|histor\w{1,4}"
    r"|renam(?:ed|ing)|replac(?:ed|ement)|upgrad\w{1,5}|migrat\w{1,5}|still|anymore|any more"
    r"|no longer|first|latest|last|was|were|did|used to)\b|[0-9]\.[0-9]",
    re.IGNORECASE,
)


class LineMerits:
    """The merits of lines for one question."""

    def __init__(self, question: str, literals: tuple[str, ...]) -> None:
        self.shape = expected_answer.shape(question)
        self._type = expected_answer.of(question)
        self.wants_value = self._type in (AnswerType.VALUE, AnswerType.VERSION)
        self._words = frozenset((*terms.words(question), *(each.lower() for each in literals)))
        self._literals = tuple(map(whole, literals))
        self._about_changes = _ABOUT_CHANGES.search(question) is not None
        self._defined = _asked_for(question)
        self._wants_place = _WHERE.match(question) is not None
        self._is_negated = _is_negated(question)
        self._sides = comparing.sides(question)

    def of(self, excerpt: Excerpt, passage: QuotableSource, opens: bool) -> float:
        """The sum; `opens`: it is the first sentence below its heading."""
        has_type = self.type_found(excerpt.text)
        merit = (VALUE if self.wants_value else ANSWER_TYPE) * has_type
        here = 0
        if self._literals:
            here, above = self.literals(excerpt, passage)
            merit += (LITERALS * here + LITERALS_ABOVE * above) / len(self._literals)
            if self.wants_value and has_type and self.heads(excerpt, passage):
                merit += DEFINITION if expected_answer.opens_with_value(excerpt.text) else DEFINED
        if self._defined and self._defined in _names(excerpt, passage):
            merit += DEFINITION if opens else EXPLANATION * bool(self._literals)
        if excerpt.text in passage.headings and self.may_answer(excerpt):
            merit += DEFINED * bool(self._literals and here)
        if self._wants_place and _PLACE.search(f"{excerpt.text}\n{excerpt.below}"):
            merit += PLACE
        if self._is_negated and _is_negated(excerpt.text):
            merit += NEGATED
        if self.shape is AnswerShape.STEPS and instructs(excerpt.text):
            merit += INSTRUCTION
        if self._sides and comparing.contrasts(self._sides, excerpt.text):
            merit += COMPARED
        merit += self._definition(excerpt.text)
        shape = _shape_of(excerpt)
        if shape is not None and shape is self.shape:
            merit += STEPS if shape is AnswerShape.STEPS else LISTED
        elif self.shape is AnswerShape.LIST and not (excerpt.fields or excerpt.lead):
            merit += LISTED * (_COUNTS_UP.search(excerpt.text) is not None)
            merit -= LISTED * (_POINTS_BACK.match(excerpt.text) is not None)
        return merit - self._demerit(excerpt, passage)

    def _definition(self, text: str) -> float:
        """Whether a line says what something is that the question asks about, or compares."""
        subject = _subject(text)
        if not subject:
            return 0.0
        if self._defined and _without_kind(subject) == self._defined:
            return SAID
        is_side = any(set(subject) == side for side in self._sides or ())
        return COMPARED * is_side

    def _demerit(self, excerpt: Excerpt, passage: QuotableSource) -> float:
        leads_nowhere = not excerpt.below and excerpt.text.endswith((":", "..."))
        demerit = 0.0
        has_words = excerpt.fields or is_worded(excerpt.text)
        if leads_nowhere or not has_words or _REFERRAL.match(excerpt.text):
            demerit += REFERRAL
        elif _ENDS_IN_REFERRAL.search(excerpt.text):
            demerit += REFERRAL_AT_END
        if not self._about_changes and (is_of_changes(passage) or _CHANGE.match(excerpt.text)):
            demerit += CHANGED_VALUE if self._type is AnswerType.VALUE else CHANGES
        if excerpt.is_entry and self.shape is AnswerShape.STEPS:
            demerit += ENTRY
        if not excerpt.fields and excerpt.text.endswith((",", ";")):
            demerit += FRAGMENT
        if not excerpt.fields and (excerpt.below or excerpt.text not in passage.headings):
            missing = max(0, _SENTENCE_WORDS - 1 - unlinked(excerpt.text).count(" "))
            demerit += SHORT * missing / _SENTENCE_WORDS
        return demerit

    def may_answer(self, heading: Excerpt) -> bool:
        """Whether a heading may be the answer: it has the date that is asked for."""
        return self._type is AnswerType.DATE and self.type_found(heading.text) == 1.0

    def type_found(self, text: str) -> float:
        """From 0 to 1: whether a text has the type that is expected."""
        return expected_answer.found(self._type, text, self._words)

    def literals(self, excerpt: Excerpt, passage: QuotableSource) -> tuple[int, int]:
        """How many literals of the question are in the excerpt, and only in the headings above."""
        headings = " ".join((*passage.headings, excerpt.heading))
        here = above = 0
        for literal in self._literals:
            if literal.search(excerpt.text):
                here += 1
            elif literal.search(headings):
                above += 1
        return here, above

    def heads(self, excerpt: Excerpt, passage: QuotableSource) -> bool:
        """Whether the section is headed by an identifier of the question, and by nothing else."""
        last = excerpt.heading or (passage.headings[-1] if passage.headings else "")
        names = [each.strip("`\"' ()-") for each in last.split(", ")]
        return any(literal.fullmatch(bare) for literal in self._literals for bare in names)


def whole(literal: str) -> re.Pattern[str]:
    """A literal as written, not as a part of a longer number or name."""
    before = r"(?<![0-9]\.)(?<!\w)" if literal[:1].isalnum() else ""
    after = r"(?!\.?[0-9])(?!\w)" if literal[-1:].isalnum() else ""
    return re.compile(before + re.escape(literal) + after)


def asks_why(question: str) -> bool:
    """Whether a question asks for a reason."""
    return _WHY.match(question) is not None


def instructs(text: str) -> bool:
    """Whether a line tells the reader to do something, or what must be done."""
    return _INSTRUCTION.search(text) is not None


def gives_reason(text: str) -> bool:
    """Whether a line gives one: "because", "to avoid"."""
    return _REASON.search(text) is not None


def _is_negated(text: str) -> bool:
    return any(map(polarity.is_plain, stems.forms(text)))


def is_of_changes(passage: QuotableSource) -> bool:
    """Whether a source is of a list of changes: by its file or a heading, or below a version."""
    top = passage.headings[0] if passage.headings else ""
    return bool(
        _CHANGE_FILE.search(passage.path)
        or _VERSION_HEADING.match(top)
        or any(map(_CHANGE_HEADING.fullmatch, passage.headings))
    )


def opens_section(text: str) -> bool:
    """Whether a line can be the first that a section says: no note of a version or a type."""
    return is_worded(text) and not (_CHANGE.match(text) or _FACT.match(text))


def is_worded(text: str) -> bool:
    """Whether a text is more than links and code."""
    return _WORD.search(unlinked(text)) is not None


def unlinked(text: str) -> str:
    """A text without its links and its code, if it is only a few words then."""
    rest = " ".join(_LINK.sub(" ", text).split())
    return rest if rest.count(" ") < _LEAST_WORDS else text


def defines(question: str, excerpt: Excerpt, passage: QuotableSource) -> bool:
    """Whether a line stands below the name of what a question asks about: "What is …?"."""
    wanted = _asked_for(question)
    return bool(wanted) and wanted in _names(excerpt, passage)


def holds_value(question: str, excerpt: Excerpt, passage: QuotableSource) -> bool:
    """Whether a line has the value or version that is asked of what heads its section."""
    merits = LineMerits(question, terms.literals(question))
    return (
        merits.wants_value
        and merits.heads(excerpt, passage)
        and merits.type_found(excerpt.text) > 0
    )


def is_version(question: str, excerpt: Excerpt, passage: QuotableSource) -> bool:
    """Whether a line stands below the versions that a question names: "What was fixed in 0.2?"."""
    versions = [each for each in terms.literals(question) if _VERSION_HEADING.fullmatch(each)]
    above = " ".join((*passage.headings, excerpt.heading))
    return bool(versions) and all(whole(each).search(above) for each in versions)


def _asked_for(question: str) -> tuple[str, ...]:
    asked = _WHAT_IS.match(question)
    return _without_kind(terms.words(asked[1])) if asked else ()


def _subject(text: str) -> tuple[str, ...]:
    """What a line defines: "An *xfail* means that …"."""
    found = _DEFINES.match(text)
    return tuple(terms.words(found[1])) if found else ()


def _names(excerpt: Excerpt, passage: QuotableSource) -> set[tuple[str, ...]]:
    """What a line is about: the heading right above it, or the name of its source."""
    last = excerpt.heading or (passage.headings[-1] if passage.headings else passage.name)
    return {_without_kind(terms.words(last))}


def _without_kind(words: Sequence[str]) -> tuple[str, ...]:
    """A name without the word behind it that says what it is: "the SSL_CERT_DIR variable"."""
    kept = list(words)
    while len(kept) > 1 and kept[-1] in _KINDS:
        kept.pop()
    return tuple(kept)


def _shape_of(excerpt: Excerpt) -> AnswerShape | None:
    """What the excerpt introduces."""
    if not excerpt.below:
        return None
    return AnswerShape.STEPS if excerpt.below.startswith("```") else AnswerShape.LIST
