"""What speaks for a line beside how many words of the question it has: `LineMerits`.

    + 0.5 · the share of its identifiers and quoted phrases that occur here literally; 0.3 in the
            heading above. "3.0" does not occur in "0.13.0"
    + 0.2 if the excerpt has the expected answer type (a name, a date, a number); 0.6 for the value
          of a default or a limit and for a version, which is all that is asked for
    + 0.6 if its section is headed by the identifier whose value is asked for, and it has the type
    + 1   if the question asks what something is, and it opens the section of that name
    + 0.3 if the question asks how to do something and the excerpt introduces code, 0.2 if it asks
          for a list and the excerpt introduces one
    − 0.6 if it only refers to another place ("For more, see …"), introduces what is not there, or
          is nothing but code and links; 0.3 if it ends in such a referral
    − 0.4 if it is of a list of changes, and the question is not about versions or changes; 1 where
          the value of a setting is asked for: it may be another by now
    − 0.3 · the part that is missing to eight words: headings, links and fragments are no sentences

Every pattern is bounded.
"""

import re

from redask.core.rules import terms
from redask.providers.extractive import expected_answer
from redask.providers.extractive.excerpts import Excerpt, QuotableSource
from redask.providers.extractive.expected_answer import AnswerShape, AnswerType

LITERALS = 0.5
LITERALS_ABOVE = 0.3
STEPS = 0.3
LISTED = 0.2
ANSWER_TYPE = 0.2
VALUE = 0.6
DEFINED = 0.6
DEFINITION = 1.0
REFERRAL = 0.6
REFERRAL_AT_END = 0.3
CHANGES = 0.4
CHANGED_VALUE = 1.0
SHORT = 0.3
_SENTENCE_WORDS = 8
_LEAST_WORDS = 4

_REFERRAL = re.compile(
    r"(?:for|see) [^.]{0,60}\b(?:see|refer to|information|details)\b|see ", re.IGNORECASE
)
_ENDS_IN_REFERRAL = re.compile(r"\bsee (?:the |also )?[\[`][^\n]{1,300}[\])`]\W{0,3}$")
_WORD = re.compile(r"[^\W\d_]{2}")
_LINK = re.compile(
    r"!?\[[^\[\]]{0,300}\]\([^()\s]{1,500}\)|https?://\S{1,500}|`[^`]{1,200}`|\*\*\w{1,60}\*\*"
)
_WHAT_IS = re.compile(
    r"\W{0,4}what(?:'s|’s| is| are) (?:an? |the )?([^?]{2,80}?)\s{0,4}\??\s{0,4}$", re.IGNORECASE
)
_CHANGE_FILE = re.compile(
    r"(?:^|/)(?:change[-_ ]?(?:s|log)|history|news|releases?(?:[-_ ]?notes?)?|whats?[-_ ]?new)"
    r"[^/]{0,30}$",
    re.IGNORECASE,
)
_VERSION_HEADING = re.compile(
    r"\W{0,3}(?:version |release )?v?[0-9]{1,4}(?:\.[0-9a-z]{1,8}){1,4}\b", re.IGNORECASE
)
_ABOUT_CHANGES = re.compile(
    r"\b(?:when|since|versions?|releases?|released|chang(?:e|es|ed|elog)|new|news|add(?:ed|ition)"
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
        self._words = frozenset((*terms.words(question), *(each.lower() for each in literals)))
        self._literals = tuple(map(whole, literals))
        self._about_changes = _ABOUT_CHANGES.search(question) is not None
        self._defined = _asked_for(question)

    def of(self, excerpt: Excerpt, passage: QuotableSource, opens: bool) -> float:
        """The sum; `opens`: it is the first sentence below its heading."""
        has_type = self.type_found(excerpt.text)
        wants_value = self._type in (AnswerType.VALUE, AnswerType.VERSION)
        merit = (VALUE if wants_value else ANSWER_TYPE) * has_type
        if self._literals:
            here, above = self.literals(excerpt, passage)
            merit += (LITERALS * here + LITERALS_ABOVE * above) / len(self._literals)
            if wants_value and has_type and self._heads(excerpt, passage):
                merit += DEFINED
        if opens and self._defined and self._defined in _names(excerpt, passage):
            merit += DEFINITION
        shape = _shape_of(excerpt)
        if shape is not None and shape is self.shape:
            merit += STEPS if shape is AnswerShape.STEPS else LISTED
        return merit - self._demerit(excerpt, passage)

    def _demerit(self, excerpt: Excerpt, passage: QuotableSource) -> float:
        leads_nowhere = not excerpt.below and excerpt.text.endswith((":", "..."))
        demerit = 0.0
        has_words = excerpt.fields or is_worded(excerpt.text)
        if leads_nowhere or not has_words or _REFERRAL.match(excerpt.text):
            demerit += REFERRAL
        elif _ENDS_IN_REFERRAL.search(excerpt.text):
            demerit += REFERRAL_AT_END
        if not self._about_changes and is_of_changes(passage):
            demerit += CHANGED_VALUE if self._type is AnswerType.VALUE else CHANGES
        if not excerpt.fields and excerpt.text not in passage.headings:
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

    def _heads(self, excerpt: Excerpt, passage: QuotableSource) -> bool:
        """Whether the section is headed by an identifier of the question, and by nothing else."""
        last = excerpt.heading or (passage.headings[-1] if passage.headings else "")
        bare = last.strip("`\"' ()-")
        return any(literal.fullmatch(bare) for literal in self._literals)


def whole(literal: str) -> re.Pattern[str]:
    """A literal as written, not as a part of a longer number or name."""
    before = r"(?<![0-9]\.)(?<!\w)" if literal[:1].isalnum() else ""
    after = r"(?!\.?[0-9])(?!\w)" if literal[-1:].isalnum() else ""
    return re.compile(before + re.escape(literal) + after)


def is_of_changes(passage: QuotableSource) -> bool:
    """Whether a source is of a list of changes: by its file's name, or below a version."""
    top = passage.headings[0] if passage.headings else ""
    return bool(_CHANGE_FILE.search(passage.path) or _VERSION_HEADING.match(top))


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


def is_version(question: str, excerpt: Excerpt, passage: QuotableSource) -> bool:
    """Whether a line stands below the versions that a question names: "What was fixed in 0.2?"."""
    versions = [each for each in terms.literals(question) if _VERSION_HEADING.fullmatch(each)]
    above = " ".join((*passage.headings, excerpt.heading))
    return bool(versions) and all(whole(each).search(above) for each in versions)


def _asked_for(question: str) -> tuple[str, ...]:
    asked = _WHAT_IS.match(question)
    return tuple(terms.words(asked[1])) if asked else ()


def _names(excerpt: Excerpt, passage: QuotableSource) -> set[tuple[str, ...]]:
    """What a line is about: the heading right above it, or the name of its source."""
    last = excerpt.heading or (passage.headings[-1] if passage.headings else passage.name)
    return {tuple(terms.words(last))}


def _shape_of(excerpt: Excerpt) -> AnswerShape | None:
    """What the excerpt introduces."""
    if not excerpt.below:
        return None
    return AnswerShape.STEPS if excerpt.below.startswith("```") else AnswerShape.LIST
