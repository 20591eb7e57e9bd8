"""The closed lists of English that the planner knows: what each phrase asks for.

    kind        payload                          for example
    show        -                                show me, what are, find
    count       -, or much                       how many, the number of; how much, which a text
                                                 may answer as well
    aggregate   avg sum min max                  the average, total
    extreme     max min                          highest, fewest
    compare     = <> < <= > >=                   at least, after
    upward      the same, written behind         or more, or earlier
    each        -                                for each, per
    sort        asc desc or nothing              in descending order of
    direction   asc desc                         from high to low, alphabetically
    distinct    -                                different, unique
    common      max min                          most common, least popular
    contain     contain start end                contains the word
    between     -                                between
    share       share percentage                 percentage of

`LIGHT` verbs say nothing of their own; `RELATIONS` say that two things belong together, and nothing
that a column would (as `cancelled` does). `NEGATIVE` words turn a condition round.
`DIMENSIONS` gives, for an adjective, the nouns it measures and the direction.
"""

from functools import lru_cache

from redask.core.planning.question.words import stem


def _rows(kind: str, payload: str, phrases: str) -> list[tuple[tuple[str, ...], str, str]]:
    return [(tuple(phrase.split()), kind, payload) for phrase in phrases.split("|") if phrase]


_SHOW = (
    "show|show me|sort|list|list out|find|find out|give|give me|return|tell me|"
    "what is|what are|what was|"
    "what were|what's|which is|which are|who is|who are|who was|who were|which|what|who|display|"
    "get|provide|select|compute|calculate|in which|in what|for which|at which|"
    "on which|can you list|i want to know|which of|what kind of|what kinds of|return me|"
    "from which|to which|what can be|whose|where is|where are|when was|when is|when are|"
    "please show|please list|please find|please give me|what do|what does|show us"
)
MUCH = "much"
_COUNT = (
    "how many|number of|total number of|count of|count number of|count|count how many|"
    "how many of|amount of|total count of|the number of"
)
_ROWS = [
    *_rows("show", "", _SHOW),
    *_rows("count", "", _COUNT),
    *_rows("count", MUCH, "how much"),
    *_rows("aggregate", "avg", "average|mean|avg|average of|average value of|mean of"),
    *_rows("aggregate", "sum", "total|sum of|total of|sum|sum up|combined|total amount of"),
    *_rows("extreme", "max", "maximum|max|highest|largest|biggest|greatest|maximal|most"),
    *_rows("extreme", "min", "minimum|min|lowest|smallest|least|fewest|minimal"),
    *_rows("top", "max", "top"),
    *_rows("top", "min", "bottom"),
    *_rows(
        "compare",
        ">",
        "more than|greater than|larger than|higher than|bigger than|above|over|exceeding|exceeds|"
        "exceed|bigger|greater|>|in excess of|are more than|not less than or equal to|surpassing",
    ),
    *_rows(
        "compare",
        ">=",
        "at least|no less than|not less than|no fewer than|>=|greater than or equal to|"
        "more than or equal to|a minimum of|no smaller than|no lower than|minimum of",
    ),
    *_rows(
        "compare",
        "<",
        "less than|fewer than|smaller than|lower than|below|under|less|smaller|<|beneath",
    ),
    *_rows(
        "compare",
        "<=",
        "at most|no more than|not more than|up to|<=|less than or equal to|no greater than|"
        "a maximum of|no larger than|no higher than|maximum of",
    ),
    *_rows("compare", "=", "equal to|equals|exactly|equal|=|equals to"),
    *_rows("compare", "<>", "other than|different from|not equal to|!=|<>|outside|outside of"),
    *_rows("moment", ">", "after|later than|following"),
    *_rows("moment", "<", "before|earlier than|prior to"),
    *_rows("moment", ">=", "since|starting from|as of|from or after"),
    *_rows("moment", "<=", "until|by the end of|no later than"),
    *_rows("moment", "=", "in year|in the year|during|in the year of|during the year"),
    *_rows("upward", ">=", "or more|or above|or later|or after|or higher|or greater|or over"),
    *_rows("upward", ">=", "or older|or larger|or newer|and above|and over"),
    *_rows("upward", "<=", "or less|or fewer|or below|or before|or earlier|or lower|or under"),
    *_rows("upward", "<=", "or younger|or smaller|and below|and under"),
    *_rows(
        "each",
        "",
        "for each|in each|per|of each|by each|from each|for every|in every|at each|on each|"
        "for each of|with each|within each|to each|of every|for each different|grouped by|"
        "group by|broken down by|for each distinct|for all different|under each|each",
    ),
    *_rows(
        "sort",
        "",
        "sorted by|ordered by|order by|sort by|in order of|in the order of|in order by|"
        "arranged by|ranked by|and sort them by|sort them by|order them by|sort the result by|"
        "sort results by|sort the results by|order the results by|order the result by|"
        "sorted by the order of|listed by|order of|sorted in order of|sorted in the order of|"
        "sorted according to|ordered according to|sort the list by|sorted in terms of",
    ),
    *_rows("between", "", "between|in between|in the range of|in the range from|ranging from"),
    *_rows("distinct", "", "different|distinct|unique|differing|various|separate"),
    *_rows(
        "common",
        "max",
        "most common|most popular|most frequent|most frequently used|most commonly used|"
        "most often used|most used|most commonly occurring|most prevalent|most frequently|"
        "most often|most commonly",
    ),
    *_rows("common", "min", "least common|least popular|least frequent|rarest|least used"),
    *_rows(
        "contain",
        "contain",
        "contains|contain|containing|includes|include|including|contains the word|"
        "contain the word|containing the word|contains the substring|contain the substring|"
        "has the substring|include the word|includes the word|include the substring|"
        "includes the substring|has the word|have the word|contains the letter|"
        "contain the letter|has the letter|containing the letter|contains word|"
        "contain letter|contains letter|contains substring|contain substring|includes word|"
        "include word|have the substring|containing letter|containing substring|containing word|"
        "containing the substring|contains the string|containing the string",
    ),
    *_rows(
        "contain",
        "start",
        "starts with|start with|starting with|begins with|begin with|beginning with|"
        "starts with the letter|start with the letter|starting with the letter|"
        "starts with letter|begins with the letter|begin with the letter|start with letter|"
        "starting with letter|that start with",
    ),
    *_rows(
        "contain",
        "end",
        "ends with|end with|ending with|ends with the letter|end with the letter|"
        "ending with the letter|ending in|ends in",
    ),
    *(
        ((*phrase.split(),), "today", phrase)
        for phrase in ("today", "yesterday", "this year", "last year", "this month", "last month")
    ),
    *_rows("share", "percentage", "percentage of|percent of"),
    *_rows("share", "share", "share of|proportion of|fraction of"),
    *_rows("star", "", "information|all information|everything|all details|details|all columns"),
]
_UP = "ascending|increasing|ascendingly|alphabetical|alphabetic|lexicographical|lexicographic"
_UP += "|lexicographically|alphabetically|ascending alphabetical|ascending lexicographical"
_UP += "|ascending alphabetic|chronological"
_DOWN = "descending|decreasing|reverse alphabetical|descending alphabetical|reversed alphabetical"
_DOWN += "|descending lexicographical|reverse|reverse chronological|descending alphabetic"
_ROWS += [
    (tuple(phrase.format(word).split()), "sort", payload)
    for words, payload in ((_UP, "asc"), (_DOWN, "desc"))
    for word in words.split("|")
    for phrase in (
        "in {} order of",
        "in {} order by",
        "in {} order according to",
        "in a {} order of",
        "in the {} order of",
        "in {} order for",
        "in order of {}",
        "sorted in {} order of",
        "sorted in {} order by",
        "ordered in {} order of",
        "ordered by {}",
        "sorted by {}",
        "sorted by {} order of",
        "sort by {} order of",
        "sort them in {} order of",
        "ordered by {} order of",
        "sorted {} by",
        "ordered {} by",
        "{} by",
        "by {} order of",
        "by {}",
    )
]
_ROWS += [
    (tuple(phrase.format(word).split()), "direction", payload)
    for words, payload in ((_UP, "asc"), (_DOWN, "desc"))
    for word in words.split("|")
    for phrase in (
        "in {} order",
        "in a {} order",
        "in the {} order",
        "sorted in {} order",
        "ordered in {} order",
        "sorted {}",
        "ordered {}",
        "{} order",
        "{}",
        "by {} order",
        "from {} order",
    )
]
_ROWS += [
    *_rows("direction", "asc", "from low to high|from lowest to highest|from small to large"),
    *_rows("direction", "asc", "from smallest to largest|from youngest to oldest"),
    *_rows("direction", "asc", "from least to most|from earliest to latest|from oldest to newest"),
    *_rows("direction", "desc", "from high to low|from highest to lowest|from large to small"),
    *_rows("direction", "desc", "from largest to smallest|from oldest to youngest"),
    *_rows("direction", "desc", "from most to least|from latest to earliest"),
    *_rows("direction", "desc", "from most recent to oldest|from newest to oldest"),
]
ARTICLES = frozenset(
    """the a an all any please its their his her our your corresponding respective also
    currently ever actually these those such whole entire we you me i just own
    along together well them it itself respectively overall ones specific particular""".split()
)
PREPOSITIONS = frozenset(
    "of in from at on by for to with within inside among about into as via across under".split()
)
RELATIVES = frozenset(
    "who whom that which whose where when while they he she there whether".split()
)
AUXILIARIES = frozenset(
    """is are was were be been being do does did has have had having can could will would should
    may might 's 're get gets got""".split()
)
LIGHT = frozenset(
    """live lives lived living located situated based belong belongs belonging belonged come comes
    came coming exist exists existing called named titled entitled given used using associated
    related contained listed recorded stored correspond corresponds happen happened happens appear
    appears appeared own owns owned owning possess possesses receive receives received offer offers
    offered offering provide provides provided providing hold holds held holding make makes made
    lie lies reside resides residing found equal classified assigned labeled known consist consists
    earn earns earned earning cost costs weigh weighs cover covers covered work works worked working
    employed logged""".split()
)
RELATIONS = frozenset(
    """place placed places buy buys bought purchase purchased purchases order ordered orders teach
    teaches taught write writes wrote written build builds built produce produces produced take
    takes took taken attend attends attended visit visits visited play plays played direct directs
    directed manage manages managed publish publishes published perform performs performed design
    designs designed create creates created sell sells sold supply supplies supplied employ employs
    enrolled released sent send sends gave give gives operate operates
    operated operating host hosts hosted hosting join joins joined joining register registers
    registered book books booked advise advises advised advising climb climbs climbed lead leads led
    cause causes caused study studies studied studying sponsor sponsors sponsored drive drives drove
    driven fly flies flew flown participate participates participated participating enroll enrolls
    compete competes competed rent rents rented review reviews reviewed treat treats treated
    prescribe prescribes prescribed teaching writing making producing managing performing attending
    taking playing buying selling supplying serving serve serves served win wins won run runs ran
    author authors authored compose composes composed sing sings sang sung""".split()
)
NEGATIVE = frozenset("not no never without neither nor cannot excluding except n't".split())
JOINING = frozenset("and or but , either both ; then".split())
ENDING = frozenset(
    """there exist total have has do does we are is were was in our the database records record
    existing altogether overall currently available exists listed been present case table data
    dataset stored system did be""".split()
)
BACK = frozenset("that this those these it them there each".split())
DIMENSIONS: dict[str, dict[str, int]] = {}


def _measure(direction: int, adjectives: str, nouns: dict[str, int]) -> None:
    for adjective in adjectives.split():
        DIMENSIONS[adjective] = {stem(noun): direction * sign for noun, sign in nouns.items()}


_AGE = {"age": 1, "birth": -1, "birthdate": -1}
_TIME = {"date": 1, "year": 1, "time": 1, "datetime": 1}
_LENGTH = {"length": 1, "duration": 1, "distance": 1, "runtime": 1}
_PRICE = {"price": 1, "cost": 1, "fee": 1, "charge": 1}
_measure(1, "older oldest eldest", _AGE)
_measure(-1, "younger youngest", _AGE)
_measure(1, "longer longest", _LENGTH)
_measure(-1, "shorter shortest", _LENGTH | {"height": 1})
_measure(1, "taller tallest", {"height": 1})
_measure(1, "heavier heaviest", {"weight": 1})
_measure(-1, "lighter lightest", {"weight": 1})
_measure(1, "expensive", _PRICE)
_measure(-1, "cheaper cheapest", _PRICE)
_measure(1, "faster fastest", {"speed": 1, "velocity": 1})
_measure(-1, "slower slowest", {"speed": 1, "velocity": 1})
_measure(1, "later latest newest recent newer", _TIME)
_measure(-1, "earlier earliest", _TIME)
_measure(1, "larger largest bigger biggest", {"size": 1, "area": 1, "population": 1})
_measure(-1, "smaller smallest", {"size": 1, "area": 1, "population": 1})
_measure(1, "higher highest", {"height": 1, "elevation": 1, "altitude": 1})
UNITS = {
    adjective: {stem(unit): sign for unit in "millisecond second minute hour".split()}
    for adjective, sign in (("longer", 1), ("longest", 1), ("shorter", -1), ("shortest", -1))
}  # what an adjective measures in a table without a column of that name
MONEY = frozenset("dollar dollars euro euros usd eur pounds".split())
MONEY_NOUNS = frozenset(
    stem(word)
    for word in "price cost fee charge amount total salary revenue budget balance wage".split()
)
ADDITIVE = frozenset(
    stem(word)
    for word in "revenue sales amount turnover profit quantity unit hour spending".split()
)  # numbers of which a person asks for the sum, unless one row is named
COMPARATIVES = frozenset(
    """older younger longer shorter taller heavier lighter cheaper faster slower later earlier
    larger bigger smaller higher newer""".split()
)
NUMBERS = {
    word: value
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
} | {"once": 1, "twice": 2}
MONTHS = {
    month: number
    for number, month in enumerate(
        """january february march april may june july august september october november
        december""".split(),
        1,
    )
}
SYNONYMS = {
    stem(word): tuple(stem(other) for other in others.split())
    for word, others in {
        "gender": "sex",
        "sex": "gender",
        "telephone": "phone",
        "phone": "telephone",
        "postcode": "zip",
        "zip": "postcode",
        "email": "mail",
        "identifier": "id",
        "town": "city",
        "rank": "ranking",
        "ranking": "rank",
        "cost": "price",
        "price": "cost",
        "pay": "salary",
        "earn": "salary",
        "weigh": "weight",
        "birthdate": "birth",
        "surname": "last",
        "family": "last",
        "nation": "country",
        "film": "movie",
        "movie": "film",
        "worker": "employee",
        "staff": "employee",
        "employee": "staff",
        "author": "writer",
    }.items()
}


@lru_cache(maxsize=1)
def phrases() -> dict[str, tuple[tuple[tuple[str, ...], str, str], ...]]:
    """The cues by their first word, longest first; the first row of equal words wins."""
    table: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
    for words, kind, payload in _ROWS:
        kept = tuple(word for word in words if word not in ARTICLES)
        table.setdefault(kept[0], []).append((kept, kind, payload))
    return {
        first: tuple(sorted(rows, key=lambda row: -len(row[0]))) for first, rows in table.items()
    }
