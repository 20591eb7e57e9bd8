"""The name of an output column without AS: PostgreSQL's FigureColname, `output_name(node)`."""

from redask.core.sql.binder.bound import TreeNode, only

_FIXED = {
    "CoalesceExpr": "coalesce",
    "A_ArrayExpr": "array",
    "RowExpr": "row",
    "GroupingFunc": "grouping",
}
VALUE_FUNCTIONS = {
    "SVFOP_CURRENT_DATE": "current_date",
    "SVFOP_CURRENT_TIME": "current_time",
    "SVFOP_CURRENT_TIMESTAMP": "current_timestamp",
    "SVFOP_LOCALTIME": "localtime",
    "SVFOP_LOCALTIMESTAMP": "localtimestamp",
    "SVFOP_CURRENT_ROLE": "current_role",
    "SVFOP_CURRENT_USER": "current_user",
    "SVFOP_USER": "user",
    "SVFOP_SESSION_USER": "session_user",
    "SVFOP_CURRENT_CATALOG": "current_catalog",
    "SVFOP_CURRENT_SCHEMA": "current_schema",
}


def output_name(node: TreeNode) -> str:
    """The name that PostgreSQL would give."""
    return _figure(node)[1] or "?column?"


def last_name(names: list[TreeNode]) -> str:
    """The last part of a qualified name."""
    return str(names[-1]["String"].get("sval", ""))


def _figure(node: TreeNode) -> tuple[int, str]:
    """How sure the name is (0 to 2), and the name."""
    kind, content = only(node)
    if kind in _FIXED:
        return 2, _FIXED[kind]
    if kind == "ColumnRef":
        names = [each["String"]["sval"] for each in content["fields"] if "String" in each]
        return (2, names[-1]) if names else (0, "")
    if kind == "FuncCall":
        return 2, last_name(content["funcname"])
    if kind == "A_Expr":
        return (2, "nullif") if content["kind"] == "AEXPR_NULLIF" else (0, "")
    if kind == "CollateClause":
        return _figure(content["arg"])
    if kind == "A_Indirection":
        for each in reversed(content.get("indirection", [])):
            if "String" in each:
                return 2, each["String"]["sval"]
        return _figure(content["arg"])
    if kind == "TypeCast":
        strength, name = _figure(content["arg"])
        return (strength, name) if strength > 1 else (1, last_name(content["typeName"]["names"]))
    if kind == "CaseExpr":
        strength, name = _figure(content["defresult"]) if "defresult" in content else (0, "")
        return (strength, name) if strength > 1 else (1, "case")
    return _of_others(kind, content)


def _of_others(kind: str, content: TreeNode) -> tuple[int, str]:
    if kind == "MinMaxExpr":
        return 2, "least" if content.get("op") == "IS_LEAST" else "greatest"
    if kind == "SQLValueFunction":
        return 2, VALUE_FUNCTIONS.get(content["op"], "")
    if kind == "SubLink":
        return _of_sublink(content)
    return 0, ""


def _of_sublink(content: TreeNode) -> tuple[int, str]:
    if content["subLinkType"] == "EXISTS_SUBLINK":
        return 2, "exists"
    if content["subLinkType"] == "ARRAY_SUBLINK":
        return 2, "array"
    if content["subLinkType"] == "EXPR_SUBLINK":
        select = content["subselect"]["SelectStmt"]
        while "larg" in select:
            select = select["larg"]
        if select.get("targetList"):
            target = select["targetList"][0]["ResTarget"]
            return 2, target.get("name") or output_name(target["val"])
        return 2, "column1"
    return 0, ""
