"""A statement as PostgreSQL would write it: `canonical_text(sql)`.

Equal trees have equal texts: white space, comments and the case of keywords are gone. A LIMIT of an
ordered statement becomes FETCH FIRST … WITH TIES, so that no tied row is left out by chance. The
statement was parsed and bound before.
"""


def canonical_text(sql: str) -> str:
    """The one spelling of a SELECT."""
    from postgast import deparse, parse
    from postgast.pg_query_pb2 import LIMIT_OPTION_COUNT, LIMIT_OPTION_WITH_TIES

    tree = parse(sql)
    select = tree.stmts[0].stmt.select_stmt
    if select.sort_clause and select.limit_option == LIMIT_OPTION_COUNT:
        if not select.limit_count.a_const.isnull:
            select.limit_option = LIMIT_OPTION_WITH_TIES
    return deparse(tree)
