"""The catalogue's functions over values of rows: names to OIDs and back, without the tables."""

from functools import partial

from redask.core.sql.catalogue import object_ids
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name


def _type_name(oid: int) -> str:
    known = object_ids.format_type(oid, None) or ""
    return str(oid) if known == "???" else known


def _vector_types(oids: list[int]) -> str:
    """oidvectortypes(): what each OID of a type is called."""
    return ", ".join(object_ids.format_type(each, None) or "" for each in oids)


def _slept(_seconds: float) -> str:
    """What pg_sleep() gives, after who registered it has waited: void."""
    return ""


FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_sleep", ("DOUBLE",), "VARCHAR", _slept, waits=True),
    RuntimeFunction("pg_relation_name", ("VARCHAR",), "VARCHAR", object_ids.relation_name),
    RuntimeFunction("pg_system_number", ("VARCHAR",), "BIGINT", object_ids.system_number, True),
    RuntimeFunction("pg_system_relation", ("BIGINT",), "VARCHAR", object_ids.system_relation),
    RuntimeFunction("pg_regtype_in", ("VARCHAR",), "BIGINT", object_ids.type_number),
    RuntimeFunction("pg_regtype_out", ("BIGINT",), "VARCHAR", _type_name),
    RuntimeFunction("pg_regnamespace_in", ("VARCHAR",), "BIGINT", object_ids.schema_number),
    RuntimeFunction("pg_regnamespace_out", ("BIGINT",), "VARCHAR", object_ids.schema_name),
    RuntimeFunction("pg_regproc_in", ("VARCHAR",), "BIGINT", object_ids.function_number),
    RuntimeFunction("pg_regproc_out", ("BIGINT",), "VARCHAR", object_ids.function_name),
    RuntimeFunction(
        "pg_format_type", ("BIGINT", "INTEGER"), "VARCHAR", object_ids.format_type, True
    ),
    RuntimeFunction("pg_parse_ident", ("VARCHAR",), "VARCHAR[]", object_ids.identifier_parts),
    RuntimeFunction("pg_regprocedure_in", ("VARCHAR",), "BIGINT", object_ids.procedure_number),
    RuntimeFunction("pg_regprocedure_out", ("BIGINT",), "VARCHAR", object_ids.function_name),
    *(
        row
        for kind in object_ids.NOTHING_NAMED
        for row in (
            RuntimeFunction(
                f"pg_{kind}_in", ("VARCHAR",), "BIGINT", partial(object_ids.no_number, kind)
            ),
            RuntimeFunction(f"pg_{kind}_out", ("BIGINT",), "VARCHAR", object_ids.number_text),
        )
    ),
    RuntimeFunction("pg_oidvectortypes", ("BIGINT[]",), "VARCHAR", _vector_types),
    RuntimeFunction("pg_find_type", ("VARCHAR",), "BIGINT", object_ids.find_type, True),
)
