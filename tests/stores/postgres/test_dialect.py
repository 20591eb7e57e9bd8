"""SQL of ours as PostgreSQL reads it."""

import pytest

from redask.stores.postgres.dialect import translate


@pytest.mark.parametrize(
    ("statement", "parameters", "expected"),
    [
        ("SELECT ? WHERE a = ?", [1, 2], ("SELECT %s WHERE a = %s", (1, 2))),
        (
            "SELECT ?2, ?1, ?1",
            ("a", "b"),
            ("SELECT %(p2)s, %(p1)s, %(p1)s", {"p1": "a", "p2": "b"}),
        ),
        ("SELECT :name", {"name": 1}, ("SELECT %(name)s", {"name": 1})),
        ("SELECT 'a:b?%' WHERE 1 % 2", (), ("SELECT 'a:b?%%' WHERE 1 %% 2", ())),
        ('SELECT "a?:b" FROM t', (), ('SELECT "a?:b" FROM t', ())),
        ("SELECT 'it''s :no' , :yes", {"yes": 1}, ("SELECT 'it''s :no' , %(yes)s", {"yes": 1})),
        ("SELECT a::text", (), ("SELECT a::text", ())),
        ("x CROSS JOIN y ON z", (), ("x JOIN y ON z", ())),
        ("FROM json_each(?) AS w", ("[]",), ("FROM json_items(%s) AS w", ("[]",))),
        ("FROM t INDEXED BY t_by_x WHERE y", (), ("FROM t  WHERE y", ())),
    ],
)
def test_a_statement_is_written_as_postgresql_and_its_driver_read_it(
    statement: str, parameters: object, expected: tuple[str, object]
) -> None:
    assert translate(statement, parameters) == expected
