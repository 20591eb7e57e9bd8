"""What stands in a token's place in the sources: `contest` of the tokens of its kind there.

Every token of a kind in the aligned passages is a rival for the claim's token of that kind. One
that is the same speaks for it. Another one speaks against it if it fills the claim's place better:

    score of a rival    SHARE · the share of its passage + the likeness of its neighbours
    its passage         has at least SAME_SUBJECT of the claim's content
    its place           has a likeness of at least SAME_PLACE (`place`, where the caller wants more)
    its lead            over the best same one is more than LEAD; SAID_LEAD if the claim says the
                        rival elsewhere: then it is more likely another order than another value

At most MOST tokens of a kind in a claim have a contest, so that time stays linear; of the others
it is only asked whether the sources hold their words.

The numbers were chosen on half a of the mutation corpus: changed tokens lead by 3 and more, those
of true claims in other words by less than 3, mostly less than 2.
"""

from collections.abc import Iterable
from typing import NamedTuple

MOST = 64
SHARE = 4.0
SAME_SUBJECT = 0.5
SAME_PLACE = 2.0
LEAD = 2.0
SAID_LEAD = 3.0


class Rival(NamedTuple):
    """A token of a source, as `text`: is it the claim's, and how alike are their places?"""

    same: bool
    share: float
    likeness: float
    text: str
    said: bool = False

    @property
    def score(self) -> float:
        """How well it fills the claim's place."""
        return SHARE * self.share + self.likeness


class Contest(NamedTuple):
    """Whether a token was found, and what fills its place instead."""

    found: bool
    instead: str | None


def contest(rivals: Iterable[Rival], place: float = SAME_PLACE) -> Contest:
    """What the rivals for a claim's token say."""
    known = list(rivals)
    same = max([rival.score for rival in known if rival.same], default=None)
    best: Rival | None = None
    for rival in known:
        if rival.same or rival.share < SAME_SUBJECT or rival.likeness < place:
            continue
        lead = SAID_LEAD if rival.said else LEAD
        if same is not None and rival.score <= same + lead:
            continue
        if best is None or rival.score > best.score:
            best = rival
    return Contest(same is not None, best.text if best else None)
