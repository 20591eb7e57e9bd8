"""LIMIT and OFFSET: `bind_limit`, the text and what it reads."""

from redask.core.sql.binder.bound import INT8, Read, TreeNode, fail, unsupported
from redask.core.sql.binder.context import BindingContext
from redask.core.sql.binder.expressions import ExpressionClause, Expressions
from redask.core.sql.binder.namespace import Scope


def bind_limit(
    context: BindingContext, node: TreeNode, scope: Scope
) -> tuple[str, tuple[Read, ...]]:
    """LIMIT and OFFSET."""
    if node.get("limitOption") == "LIMIT_OPTION_WITH_TIES":
        unsupported("FETCH … WITH TIES")
    text = ""
    reads: tuple[Read, ...] = ()
    for key, word, state in (
        ("limitCount", "LIMIT", "2201W"),
        ("limitOffset", "OFFSET", "2201X"),
    ):
        if key not in node:
            continue
        value = Expressions(context, scope, ExpressionClause(word)).bind(node[key])
        if value.is_null and value.is_untyped:
            continue
        if any(each.depth == scope.depth for each in value.columns):
            fail("42P10", f"argument of {word} must not contain variables", value.location)
        cast = context.coercion.coerce(value, INT8, "assignment")
        if value.integer is not None and value.integer < 0:
            fail(state, f"{word} must not be negative", value.location)
        text += f" {word} {cast.sql}"
        reads += cast.columns
    return text, reads


def limit_constant(context: BindingContext, node: TreeNode, scope: Scope, key: str) -> int:
    """LIMIT or OFFSET of FETCH … WITH TIES, which must be a constant; 0 when it is not there."""
    if key not in node:
        return 0
    value = Expressions(context, scope, ExpressionClause("LIMIT")).bind(node[key])
    if value.integer is None or value.integer < 0:
        unsupported("FETCH … WITH TIES with anything but a constant", value.location)
    return value.integer
