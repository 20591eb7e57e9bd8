"""Questions that could mean two things: each is refused, and its sure neighbour is answered."""

import pytest
from plan_worlds import StoredTexts

from redask.core.planning.plan import Certain, NotComputed, Unclear, plan
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable


def _columns(text: str) -> tuple[PlanColumn, ...]:
    """Columns from `name:type:distinct`."""
    found = []
    for each in text.split():
        name, kind, distinct = each.split(":")
        found.append(PlanColumn(name, kind, int(distinct)))
    return tuple(found)


def _table(name: str, rows: int, columns: str, key: str) -> PlanTable:
    return PlanTable(name, _columns(columns), tuple(key.split()), rows)


LIBRARY = PlanSchema(
    (
        _table("library", 4, "library_id:int4:4 name:text:4 city:text:3", "library_id"),
        _table("author", 9, "author_id:int4:9 name:text:9 library_id:int4:4", "author_id"),
        _table(
            "book",
            20,
            "book_id:int4:20 title:text:20 library_id:int4:4 shelf_code:text:5 "
            "first_print_date:date:9 last_print_date:date:9 language_code:text:2",
            "book_id",
        ),
        _table("annex", 4, "annex_id:int4:4 library_id:int4:4 area:int4:4", "annex_id"),
        _table("reader", 30, "reader_id:int4:30 full_name:text:30", "reader_id"),
        _table("loan", 50, "reader_id:int4:12 book_id:int4:9 fee:int4:5 year:int4:3", ""),
        _table(
            "fine", 9, "fine_id:int4:9 reader_id:int4:6 amount:int4:5 paid_year:int4:3", "fine_id"
        ),
        _table("language", 2, "language_id:int4:2 language:text:2", "language_id"),
        _table("visit", 90, "visit_id:int4:90 library_id:int4:4", "visit_id"),
    ),
    (
        ForeignKey("author", ("library_id",), "library", ("library_id",)),
        ForeignKey("book", ("library_id",), "library", ("library_id",)),
        ForeignKey("annex", ("library_id",), "library", ("library_id",)),
        ForeignKey("visit", ("library_id",), "library", ("library_id",)),
        ForeignKey("loan", ("reader_id",), "reader", ("reader_id",)),
        ForeignKey("loan", ("book_id",), "book", ("book_id",)),
        ForeignKey("fine", ("reader_id",), "reader", ("reader_id",)),
    ),
)
VALUES = StoredTexts(
    {
        ("author", "name"): ("Ann", "PARIS"),
        ("book", "title"): ("Dune",),
        ("library", "name"): ("North",),
        ("library", "city"): ("Paris", "Ghent"),
    }
)
REFUSED = [
    # authors and books of one library need not belong together
    "What are the names of authors who have the book Dune?",
    "How many authors have no books?",
    # those without any loan or fine, the fewest of all, are not in a join
    "What are the full names of readers with fewer than 3 loans?",
    "Which reader has the fewest fines?",
    # far away, and nothing said of it
    "How many readers have books?",
    # a part of two names; a part of one name where another table has the whole
    "What are the print dates of books?",
    'How many books have the language "x"?',
    # two names of the reading could contain it
    'How many authors have a library whose name contains "x"?',
    'How many books have a shelf that contains "x"?',
    # a value that is two things, by its spellings
    "How many libraries are in Paris?",
    # a year that is of something else
    "How many fines were there in 2001?",
    # columns of two tables, one of them not named in full
    "List the shelf of each book and the library city.",
]
ANSWERED = [
    (
        "How many annexes have the book Dune?",
        "SELECT count(*) FROM annex WHERE EXISTS (SELECT 1 FROM library JOIN book ON "
        "library.library_id = book.library_id WHERE annex.library_id = library.library_id AND "
        "book.title = 'Dune')",
    ),
    (
        "What are the full names of readers with at least 3 loans?",
        "SELECT reader.full_name FROM reader WHERE (SELECT count(*) FROM loan WHERE "
        "reader.reader_id = loan.reader_id) >= 3",
    ),
    (
        "What are the full names of readers who do not have more than 3 loans?",
        "SELECT reader.full_name FROM reader WHERE (SELECT count(*) FROM loan WHERE "
        "reader.reader_id = loan.reader_id) <= 3",
    ),
    (
        "What are the names of libraries with fewer than 30 visits?",
        'SELECT library."name" FROM library WHERE (SELECT count(*) FROM visit WHERE '
        "library.library_id = visit.library_id) < 30",
    ),
    (
        "Which library has the fewest visits?",
        'SELECT library."name" FROM visit JOIN library ON visit.library_id = library.library_id '
        'GROUP BY library.library_id, library."name" ORDER BY count(*) ASC FETCH FIRST 1 ROWS '
        "WITH TIES",
    ),
    (
        "How many readers have the book Dune?",
        "SELECT count(*) FROM reader WHERE EXISTS (SELECT 1 FROM loan JOIN book ON loan.book_id = "
        "book.book_id WHERE reader.reader_id = loan.reader_id AND book.title = 'Dune')",
    ),
    (
        "List the title of each book and the library city.",
        "SELECT book.title, library.city FROM book JOIN library ON book.library_id = "
        "library.library_id",
    ),
    ("How many libraries are in Ghent?", "SELECT count(*) FROM library WHERE city = 'Ghent'"),
    (
        "How many libraries are in the city Paris?",
        "SELECT count(*) FROM library WHERE city = 'Paris'",
    ),
    ("How many loans were there in 2001?", 'SELECT count(*) FROM loan WHERE "year" = 2001'),
    (
        'How many books have a title that contains "x"?',
        "SELECT count(*) FROM book WHERE title ILIKE '%x%'",
    ),
    (
        "List the cities in descending order of the number of libraries.",
        "SELECT city FROM library GROUP BY city ORDER BY count(*) DESC NULLS LAST, city DESC NULLS "
        "LAST",
    ),
]


@pytest.mark.parametrize("question", REFUSED)
def test_what_could_mean_two_things_is_not_computed(question: str) -> None:
    planned = plan(question, LIBRARY, VALUES)
    assert isinstance(planned, Unclear | NotComputed), planned


@pytest.mark.parametrize(("question", "sql"), ANSWERED)
def test_its_neighbour_that_means_one_thing_is_computed(question: str, sql: str) -> None:
    planned = plan(question, LIBRARY, VALUES)
    assert isinstance(planned, Certain), planned
    assert planned.sql == sql


TICKETS = PlanSchema(
    (_table("tickets", 9, "id:int4:9 title:text:9 status:text:3 opened_by:text:4", "id"),)
)
STATES = StoredTexts({("tickets", "status"): ("open", "closed", "shipped")})


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many tickets are closed?", "SELECT count(*) FROM tickets WHERE status = 'closed'"),
        (
            "How many closed tickets are there?",
            "SELECT count(*) FROM tickets WHERE status = 'closed'",
        ),
        ("Which tickets are closed?", "SELECT title FROM tickets WHERE status = 'closed'"),
    ],
)
def test_a_participle_that_ends_its_clause_or_stands_before_a_noun_is_a_value(
    question: str, sql: str
) -> None:
    planned = plan(question, TICKETS, STATES)
    assert isinstance(planned, Certain), planned
    assert planned.sql == sql


def test_a_participle_that_takes_more_is_a_verb() -> None:
    assert not isinstance(plan("How many tickets are shipped to Kiel?", TICKETS, STATES), Certain)


def test_a_count_of_what_no_table_names_is_unclear_and_says_so() -> None:
    planned = plan("How many songs?", TICKETS, STATES)
    assert planned == Unclear(("songs",), None, "count", "not_computable", is_named=False)
    assert plan("Who wrote the songs?", TICKETS, STATES) == NotComputed()


MUSIC = PlanSchema(
    (
        _table("artist", 9, "artist_id:int4:9 name:text:9", "artist_id"),
        _table("album", 9, "album_id:int4:9 title:text:9 artist_id:int4:9", "album_id"),
        PlanTable(
            "track",
            (
                *_columns("track_id:int4:90 name:text:90 album_id:int4:9"),
                PlanColumn("composer", "text", 5, nulls=7),
            ),
            ("track_id",),
            90,
        ),
        _table(
            "invoice",
            20,
            "invoice_id:int4:20 postal_code:text:9 invoice_date:date:20",
            "invoice_id",
        ),
    ),
    (
        ForeignKey("album", ("artist_id",), "artist", ("artist_id",)),
        ForeignKey("track", ("album_id",), "album", ("album_id",)),
    ),
)
SONGS = StoredTexts(
    {
        ("artist", "name"): ("AC/DC",),
        ("album", "title"): ("Rock",),
        ("track", "name"): ("Rock",),
        ("track", "composer"): ("AC/DC", "Young"),
        ("invoice", "postal_code"): ("2010",),
    }
)


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("How many invoices are there in 2010?", "invoice_date >= '2010-01-01'"),
        ("How many tracks are on the album Rock?", "album.title = 'Rock'"),
        ("How many tracks are by Young?", "composer = 'Young'"),
        ("Which composer has the most tracks?", "composer IS NOT NULL"),
    ],
)
def test_what_stands_before_a_value_says_whose_it_is(question: str, part: str) -> None:
    planned = plan(question, MUSIC, SONGS)
    assert isinstance(planned, Certain), planned
    assert part in planned.sql


def test_who_did_it_must_be_one() -> None:
    planned = plan("How many tracks are by AC/DC?", MUSIC, SONGS)
    assert isinstance(planned, Unclear)
    assert planned.kind == "ambiguous"
