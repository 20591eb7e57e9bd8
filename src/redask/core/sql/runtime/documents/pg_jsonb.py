"""PostgreSQL's jsonb operators and functions over jsonb's text.

What comes in and goes out is jsonb's one spelling (`jsonb_text`), so equal spellings are equal
values; but `1` and `1.0` are equal too: `pg_jsonb_key` gives the text that is equal exactly when
the values are, for `=`, `<>`, DISTINCT and GROUP BY. There is no order of jsonb here.
Functions that give rows give lists; jsonb_each gives two, its keys and its values.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from redask.core.errors import SqlError
from redask.core.sql.runtime.documents.json_text import (
    jsonb_text,
    number_text,
    parse_jsonb,
    path_index,
    read_jsonb,
    sorted_items,
)
from redask.core.sql.runtime.runtime_function import (
    RuntimeFunction,
    functions_by_name,
    nullable,
)

_MISSING = object()
_KINDS: dict[type, str] = {dict: "object", list: "array", str: "string", Decimal: "number"}


def _fault(message: str) -> SqlError:
    return SqlError("22023", message)


def jsonb_normal(text: str) -> str:
    """A JSON text as jsonb writes it."""
    return jsonb_text(parse_jsonb(text))


def _key(value: Any) -> Any:
    if isinstance(value, Decimal):
        text = number_text(value)
        return Decimal(text.rstrip("0").rstrip(".") if "." in text else text)
    if isinstance(value, list):
        return [_key(each) for each in value]
    if isinstance(value, dict):
        return {key: _key(each) for key, each in value.items()}
    return value


def jsonb_key(text: str) -> str:
    """The same text for equal values."""
    return jsonb_text(_key(read_jsonb(text)))


def typeof(text: str) -> str:
    value = read_jsonb(text)
    return "null" if value is None else _KINDS.get(type(value), "boolean")


def _index(value: Any, index: int) -> Any:
    """An element; a scalar is an array of itself, as jsonb keeps it."""
    if isinstance(value, dict):
        return _MISSING
    elements = value if isinstance(value, list) else [value]
    return elements[index] if -len(elements) <= index < len(elements) else _MISSING


def _path(value: Any, path: list[str | None]) -> Any:
    if None in path:
        return _MISSING
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, _MISSING)
        elif isinstance(value, list):
            index = path_index(str(step))
            value = _MISSING if index is None else _index(value, index)
        else:
            return _MISSING
        if value is _MISSING:
            return _MISSING
    return value


def as_jsonb(value: Any) -> str | None:
    return None if value is _MISSING else jsonb_text(value)


def as_text(value: Any) -> str | None:
    if value is _MISSING or value is None:
        return None
    return value if isinstance(value, str) else jsonb_text(value)


def get_key(text: str, key: str) -> Any:
    value = read_jsonb(text)
    return value.get(key, _MISSING) if isinstance(value, dict) else _MISSING


def get_index(text: str, index: int) -> Any:
    return _index(read_jsonb(text), index)


def get_path(text: str, path: list[str | None]) -> Any:
    return _path(read_jsonb(text), path)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _deep_contains(whole: Any, part: Any) -> bool:
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and _deep_contains(whole[key], part[key]) for key in part)
    if isinstance(whole, list) and isinstance(part, list):
        return all(any(_deep_contains(each, one) for each in whole) for one in part)
    if isinstance(whole, dict | list) or isinstance(part, dict | list):
        return False
    return _same(whole, part)


def contains(whole: str, part: str) -> bool:
    """`@>`; at the top an array also contains a scalar."""
    left, right = read_jsonb(whole), read_jsonb(part)
    if isinstance(left, list) and not isinstance(right, list | dict):
        return any(_same(each, right) for each in left)
    return _deep_contains(left, right)


def _has(value: Any, key: str) -> bool:
    if isinstance(value, dict | list):
        return key in value
    return _same(value, key)


def exists(text: str, key: str) -> bool:
    return _has(read_jsonb(text), key)


def exists_any(text: str, keys: list[str | None]) -> bool:
    value = read_jsonb(text)
    return any(_has(value, key) for key in keys if key is not None)


def exists_all(text: str, keys: list[str | None]) -> bool:
    value = read_jsonb(text)
    return all(_has(value, key) for key in keys if key is not None)


def concat(left: str, right: str) -> str:
    one, other = read_jsonb(left), read_jsonb(right)
    if isinstance(one, dict) and isinstance(other, dict):
        return jsonb_text(one | other)
    lists = [each if isinstance(each, list) else [each] for each in (one, other)]
    return jsonb_text(lists[0] + lists[1])


def delete_keys(text: str, keys: list[str | None]) -> str:
    value = read_jsonb(text)
    if isinstance(value, dict):
        return jsonb_text({key: each for key, each in value.items() if key not in keys})
    if isinstance(value, list):
        kept = [each for each in value if not (isinstance(each, str) and each in keys)]
        return jsonb_text(kept)
    raise _fault("cannot delete from scalar")


def delete_key(text: str, key: str) -> str:
    return delete_keys(text, [key])


def delete_index(text: str, index: int) -> str:
    value = read_jsonb(text)
    if isinstance(value, dict):
        raise _fault("cannot delete from object using integer index")
    if not isinstance(value, list):
        raise _fault("cannot delete from scalar")
    if -len(value) <= index < len(value):
        del value[index]
    return jsonb_text(value)


def _step(path: list[str | None], depth: int) -> str:
    step = path[depth]
    if step is None:
        raise SqlError("22004", f"path element at position {depth + 1} is null")
    return step


def _changed(value: Any, path: list[str | None], depth: int, new: Any, create: bool) -> Any:
    """`value` with what stands at the path replaced by `new`, or left out if that is missing."""
    key = _step(path, depth)
    if not isinstance(value, dict | list):
        return value
    last = depth == len(path) - 1
    if isinstance(value, dict):
        if key in value:
            inner = new if last else _changed(value[key], path, depth + 1, new, create)
            kept = {each: inner if each == key else value[each] for each in value}
            return {each: found for each, found in kept.items() if found is not _MISSING}
        return {**value, key: new} if last and create else value
    index = path_index(key)
    if index is None:
        message = f'path element at position {depth + 1} is not an integer: "{key}"'
        raise SqlError("22P02", message)
    if -len(value) <= index < len(value):
        at = index % len(value)
        inner = new if last else _changed(value[at], path, depth + 1, new, create)
        return [*value[:at], *([] if inner is _MISSING else [inner]), *value[at + 1 :]]
    if last and create:
        return [new, *value] if index < 0 else [*value, new]
    return value


def set_path(text: str, path: list[str | None], new: str, create: bool) -> str:
    """jsonb_set()."""
    value, given = read_jsonb(text), read_jsonb(new)
    if not isinstance(value, dict | list):
        raise _fault("cannot set path in scalar")
    if not path or (not value and not create):
        return jsonb_text(value)
    return jsonb_text(_changed(value, path, 0, given, create))


def delete_path(text: str, path: list[str | None]) -> str:
    """`#-`."""
    value = read_jsonb(text)
    if not isinstance(value, dict | list):
        raise _fault("cannot delete path in scalar")
    if not path or not value:
        return jsonb_text(value)
    return jsonb_text(_changed(value, path, 0, _MISSING, False))


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _stripped(each) for key, each in value.items() if each is not None}
    return [_stripped(each) for each in value] if isinstance(value, list) else value


def strip_nulls(text: str) -> str:
    return jsonb_text(_stripped(read_jsonb(text)))


def _pretty(value: Any, indent: str, out: list[str]) -> None:
    if not isinstance(value, dict | list):
        out.append(jsonb_text(value))
        return
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    inner = indent + "    "
    out.append(opening)
    entries = sorted_items(value) if isinstance(value, dict) else [("", each) for each in value]
    for number, (key, each) in enumerate(entries):
        out.append(f"{',' if number else ''}\n{inner}")
        if isinstance(value, dict):
            out.append(f"{jsonb_text(key)}: ")
        _pretty(each, inner, out)
    out.append(f"\n{indent}{closing}")


def pretty(text: str) -> str:
    out: list[str] = []
    _pretty(read_jsonb(text), "", out)
    return "".join(out)


def array_length(text: str) -> int:
    value = read_jsonb(text)
    if isinstance(value, list):
        return len(value)
    raise _fault(
        f"cannot get array length of a {'non-array' if isinstance(value, dict) else 'scalar'}"
    )


def _elements(text: str) -> list[Any]:
    value = read_jsonb(text)
    if isinstance(value, list):
        return value
    raise _fault(
        f"cannot extract elements from {'an object' if isinstance(value, dict) else 'a scalar'}"
    )


def object_keys(text: str) -> list[str]:
    value = read_jsonb(text)
    if isinstance(value, dict):
        return [key for key, _ in sorted_items(value)]
    kind = "an array" if isinstance(value, list) else "a scalar"
    raise _fault(f"cannot call jsonb_object_keys on {kind}")


def _pairs(text: str, name: str) -> list[tuple[str, Any]]:
    value = read_jsonb(text)
    if isinstance(value, dict):
        return sorted_items(value)
    raise _fault(f"cannot call {name} on a non-object")


def build_array(elements: list[str | None]) -> str:
    """jsonb_build_array and jsonb_agg: elements are JSON texts, or NULL."""
    return jsonb_text([None if each is None else parse_jsonb(each) for each in elements])


def _object(keys: list[str | None], values: list[str | None]) -> str:
    found = (None if each is None else parse_jsonb(each) for each in values)
    return jsonb_text(dict(zip(keys, found, strict=True)))


def build_object(keys: list[str | None], values: list[str | None]) -> str:
    if None in keys:
        raise _fault(f"argument {2 * keys.index(None) + 1}: key must not be null")
    return _object(keys, values)


def object_agg(keys: list[str | None], values: list[str | None]) -> str:
    if None in keys:
        raise _fault("field name must not be null")
    return _object(keys, values)


def scalar_text(text: str, is_number: bool, type: str) -> str:
    """A number or a boolean, for a cast to an SQL type."""
    kind = typeof(text)
    if kind != ("number" if is_number else "boolean"):
        raise SqlError("22023", f"cannot cast jsonb {kind} to type {type}")
    return text


def _getter(find: Callable[..., Any], give: Callable[[Any], str | None]) -> Callable[..., Any]:
    return nullable(lambda text, step: give(find(text, step)))


_V, _L, _B = "VARCHAR", "VARCHAR[]", "BOOLEAN"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_jsonb_in", (_V,), _V, jsonb_normal),
    RuntimeFunction("pg_jsonb_key", (_V,), _V, jsonb_key),
    RuntimeFunction("pg_jsonb_typeof", (_V,), _V, typeof),
    RuntimeFunction("pg_jsonb_get_key", (_V, _V), _V, _getter(get_key, as_jsonb), True),
    RuntimeFunction("pg_jsonb_get_key_text", (_V, _V), _V, _getter(get_key, as_text), True),
    RuntimeFunction("pg_jsonb_get_index", (_V, "INTEGER"), _V, _getter(get_index, as_jsonb), True),
    RuntimeFunction(
        "pg_jsonb_get_index_text", (_V, "INTEGER"), _V, _getter(get_index, as_text), True
    ),
    RuntimeFunction("pg_jsonb_get_path", (_V, _L), _V, _getter(get_path, as_jsonb), True),
    RuntimeFunction("pg_jsonb_get_path_text", (_V, _L), _V, _getter(get_path, as_text), True),
    RuntimeFunction("pg_jsonb_contains", (_V, _V), _B, contains),
    RuntimeFunction("pg_jsonb_exists", (_V, _V), _B, exists),
    RuntimeFunction("pg_jsonb_exists_any", (_V, _L), _B, exists_any),
    RuntimeFunction("pg_jsonb_exists_all", (_V, _L), _B, exists_all),
    RuntimeFunction("pg_jsonb_concat", (_V, _V), _V, concat),
    RuntimeFunction("pg_jsonb_delete_key", (_V, _V), _V, delete_key),
    RuntimeFunction("pg_jsonb_delete_keys", (_V, _L), _V, delete_keys),
    RuntimeFunction("pg_jsonb_delete_index", (_V, "INTEGER"), _V, delete_index),
    RuntimeFunction("pg_jsonb_delete_path", (_V, _L), _V, delete_path),
    RuntimeFunction("pg_jsonb_set", (_V, _L, _V, _B), _V, set_path),
    RuntimeFunction("pg_jsonb_strip_nulls", (_V,), _V, strip_nulls),
    RuntimeFunction("pg_jsonb_scalar", (_V, _B, _V), _V, scalar_text),
    RuntimeFunction("pg_jsonb_pretty", (_V,), _V, pretty),
    RuntimeFunction("pg_jsonb_array_length", (_V,), "INTEGER", array_length),
    RuntimeFunction("pg_jsonb_array_elements", (_V,), _L, lambda j: [*map(as_jsonb, _elements(j))]),
    RuntimeFunction(
        "pg_jsonb_array_elements_text", (_V,), _L, lambda j: [*map(as_text, _elements(j))]
    ),
    RuntimeFunction("pg_jsonb_object_keys", (_V,), _L, object_keys),
    RuntimeFunction(
        "pg_jsonb_each_keys", (_V,), _L, lambda j: [k for k, _ in _pairs(j, "jsonb_each")]
    ),
    RuntimeFunction(
        "pg_jsonb_each_values",
        (_V,),
        _L,
        lambda j: [jsonb_text(v) for _, v in _pairs(j, "jsonb_each")],
    ),
    RuntimeFunction(
        "pg_jsonb_each_values_text",
        (_V,),
        _L,
        lambda j: [as_text(v) for _, v in _pairs(j, "jsonb_each_text")],
    ),
    RuntimeFunction("pg_jsonb_build_array", (_L,), _V, build_array),
    RuntimeFunction("pg_jsonb_build_object", (_L, _L), _V, build_object),
    RuntimeFunction("pg_jsonb_object_agg", (_L, _L), _V, object_agg),
)
