"""JSON Schemas of what the HTTP transport has beside asking and reading: sessions, files, policies.

Like those of `schema`, for OpenAPI.
"""

from collections.abc import Mapping
from typing import Any

from redask.core.text import MAX_NAME, NAME_PATTERN
from redask.core.wire import schema
from redask.core.wire.data_schemas import collection_name
from redask.core.wire.schema_parts import BOOLEAN, COUNT, TEXT, items_of, or_null, shape

_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_FILE_NAME = "^[^./\\\\\\x00-\\x1f\\x7f][^/\\\\\\x00-\\x1f\\x7f]{0,49}$"
_NAME: dict[str, object] = {
    **TEXT,
    "minLength": 1,
    "maxLength": MAX_NAME,
    "pattern": NAME_PATTERN,
}
_NAMES = items_of(TEXT)
_RULE = shape(
    "PolicyRule",
    {"roles": _NAMES, "rows": TEXT, "hide": _NAMES, "mask": _NAMES, "show": _NAMES},
    ("roles",),
)
_POLICY: dict[str, object] = {
    "type": "object",
    "description": "Rules of who reads which rows and columns: see docs/access.md.",
    "format": "redask-policy",
    "properties": {"read": items_of(_RULE)},
    "required": ["read"],
    "additionalProperties": False,
}
_ROW = shape("SampledRow", {"payload": TEXT, "urn": TEXT})


def any_name() -> dict[str, object]:
    """A name of a collection, a user or a role."""
    return dict(_NAME)


def session() -> dict[str, object]:
    """Who is signed in; `anonymous` on a server without sign-in."""
    texts: dict[str, Mapping[str, object]] = dict.fromkeys(("role", "tenant", "user"), TEXT)
    return shape("Session", {"anonymous": BOOLEAN, "signed_in": BOOLEAN, **texts})


def upload() -> dict[str, object]:
    """A file, in base64, and the collection it goes to, if not by its own name."""
    content = {**TEXT, "contentEncoding": "base64", "pattern": _BASE64}
    name = {**TEXT, "pattern": _FILE_NAME}
    properties = {"name": name, "content": content, "collection": collection_name()}
    return shape("UploadRequest", properties, ("name", "content"))


def ingested() -> dict[str, object]:
    """What came of a file."""
    problem = shape("FileProblem", {"path": TEXT, "reason": TEXT})
    left_out = {"type": "object", "additionalProperties": True}
    return shape(
        "IngestResult",
        {
            "gone": COUNT,
            "ignored": COUNT,
            "left_out": items_of(left_out),
            "ok": BOOLEAN,
            "problems": items_of(problem),
            "readers": items_of({"type": "object", "additionalProperties": True}),
            "removed": COUNT,
            "written": COUNT,
        },
    )


def policies() -> dict[str, object]:
    """The policies, by collection."""
    by_name = {"type": "object", "additionalProperties": {"type": "object"}}
    return shape("Policies", {"policies": by_name})


def new_policy() -> dict[str, object]:
    """A policy to be set; null for none."""
    return shape("PolicyRequest", {"policy": or_null(_POLICY)})


def set_policy() -> dict[str, object]:
    """A policy that was set."""
    return shape("PolicyResult", {"collection": TEXT, "policy": or_null({"type": "object"})})


def preview(sampled: int, most: int) -> dict[str, object]:
    """A policy to be tried, and who would read: a user, or a role."""
    sample = {"type": "integer", "minimum": 0, "maximum": most, "default": sampled}
    properties = {"policy": or_null(_POLICY), "user": _NAME, "role": _NAME, "sample": sample}
    taken = shape("PreviewRequest", properties, ())
    return {**taken, "oneOf": [{"required": ["user"]}, {"required": ["role"]}]}


def previewed() -> dict[str, object]:
    """What somebody would read: how many rows of how many, how, and some of them."""
    names = items_of(TEXT)
    properties = {
        "collection": TEXT,
        "hidden": names,
        "masked": names,
        "readable": BOOLEAN,
        "role": TEXT,
        "rows": COUNT,
        "rows_in_all": COUNT,
        "sample": items_of(_ROW),
        "shown": or_null(names),
        "user": TEXT,
    }
    return shape("PreviewResult", properties)


def users() -> dict[str, object]:
    """The users, by name."""
    attributes = {"type": "object", "additionalProperties": True}
    user = shape("User", {"attributes": attributes, "name": TEXT, "role": TEXT})
    return shape("Users", {"users": items_of(user)})


def log_state() -> dict[str, object]:
    """Whether a log is as it was written; `reason` says what is wrong with which row."""
    return shape(
        "LogState", {"head": TEXT, "ok": BOOLEAN, "reason": TEXT, "rows": COUNT, "seq": COUNT}
    )


def ranked_hits() -> dict[str, object]:
    """What a search returns, and, if that was asked for, how each bucket ranked."""
    whole = schema.hits()
    ranking = shape(
        "BucketRanking",
        {
            "bucket": TEXT,
            "left_out": TEXT,
            "reason": TEXT,
            "urns": items_of(TEXT),
            "weight": {"type": "number"},
        },
    )
    properties = {**_properties(whole), "ranks": items_of(ranking)}
    return {**whole, "title": "RankedSearchResult", "properties": properties}


def search() -> dict[str, object]:
    """A question to search for; `ranks` asks how each bucket ranked."""
    taken = schema.ask()
    ranks = {**BOOLEAN, "description": "Tell how each bucket ranked, too."}
    properties = {**_properties(taken), "ranks": ranks}
    return {**taken, "title": "SearchRequest", "properties": properties}


def _properties(of: Mapping[str, Any]) -> dict[str, object]:
    return dict(of["properties"])
