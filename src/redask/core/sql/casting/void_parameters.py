"""Parameters of type void, which PostgreSQL passes to no function: `passed`.

Drivers send one for each OUT parameter: JDBC's `{? = call now()}` comes as `now($1)`.
"""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import TreeNode
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

VOID = SqlType("void")
_NAMES = (["void"], ["pg_catalog", "void"])


def passed(self: "Expressions", arguments: list[TreeNode]) -> list[TreeNode]:
    """The arguments of a call without those parameters."""
    return [each for each in arguments if not _is_void(self, each)]


def _is_void(self: "Expressions", argument: TreeNode) -> bool:
    cast = argument.get("TypeCast")
    parameter = argument if cast is None else cast["arg"]
    if "ParamRef" not in parameter:
        return False
    value = self.bind(parameter)
    if cast is not None and value.parameter and _is_named(cast["typeName"]):
        value = self.coercion.parameters.settle(value.parameter, VOID, value.location)
    return value.type == VOID


def _is_named(node: TreeNode) -> bool:
    names = [each["String"]["sval"] for each in node["names"]]
    return names in _NAMES and not node.get("arrayBounds")
