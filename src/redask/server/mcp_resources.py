"""The resources of MCP: what is listed, what URIs look like, and `read` one for a caller.

    redask://audit                        the newest of the caller's audit rows
    redask://collections/NAME             a collection: columns, counts, the URNs of its sources
    redask://collections/NAME?after=URN   the next of them: `next` of the page before
    urn:reddb:KIND:COLLECTION/ID          a source, as the caller may read it

Collections are listed one by one, and their sources page by page inside them: a database may
hold millions. NAME is percent-encoded. Everything is JSON.
"""

from urllib.parse import quote, unquote

import mcp_types as types

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadAsk
from redask.core.wire import json as canonical
from redask.server.sessions import audit_rows
from redask.server.table_reading import collections

AUDIT = "redask://audit"
COLLECTIONS = "redask://collections/"
SOURCES = 100  # URNs of a page
MOST_COMPLETIONS = 100  # the protocol's own bound
_AUDIT_ROWS = 20
_JSON = "application/json"
_AFTER = "?after="

TEMPLATES = [
    types.ResourceTemplate(
        name="collection",
        title="A collection",
        uri_template=COLLECTIONS + "{collection}",
        description="A collection: its columns, how many entities, the URNs of its sources.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        name="source",
        title="A source",
        uri_template="urn:reddb:{kind}:{collection}/{id}",
        description="A source by its URN, as footnotes name it.",
        mime_type=_JSON,
    ),
]


async def listed(session: AsyncDatabase) -> list[types.Resource]:
    """What the caller can read without knowing a name."""
    found = [
        types.Resource(
            name="audit",
            title="Audit rows",
            uri=AUDIT,
            description="The newest of your own audit rows.",
            mime_type=_JSON,
        )
    ]
    for each in (await session.sources()).collections:
        count = sum(each.entities.values())
        found.append(
            types.Resource(
                name=each.name,
                title=each.name,
                uri=COLLECTIONS + quote(each.name, safe=""),
                description=f"A collection of {count} entities: its columns and sources.",
                mime_type=_JSON,
            )
        )
    return found


async def read(session: AsyncDatabase, uri: str) -> str | None:
    """The text of a resource, or None when there is none that the caller may read."""
    if uri == AUDIT:
        return canonical.text(audit_rows(await session.audit(_AUDIT_ROWS)))
    if uri.startswith(COLLECTIONS):
        return await _collection(session, uri)
    if not uri.startswith("urn:"):
        raise BadAsk(f"there is no resource {uri[:200]!a}: resources/list names them", detail="uri")
    found = await session.source(uri)
    return None if found is None else found.payload


async def completed(session: AsyncDatabase, argument: str, begun: str) -> list[str]:
    """Names of collections that a caller may have begun to write; of nothing else."""
    if argument != "collection":
        return []
    held = (await session.sources()).collections
    return [quote(each.name, safe="") for each in held if each.name.startswith(unquote(begun))]


async def _collection(session: AsyncDatabase, uri: str) -> str | None:
    written, sign, after = uri.removeprefix(COLLECTIONS).partition(_AFTER)
    name, last = unquote(written), unquote(after)
    if sign and not last.startswith("urn:"):
        raise BadAsk("after: expected the `next` of the page before", detail="after")
    [found] = [
        each for each in (await collections(session))["collections"] if each["name"] == name
    ] or [None]
    if found is None:
        return None
    page = [each.urn for each in await session.page(name, after=last, limit=SOURCES + 1)]
    following = None
    if len(page) > SOURCES:
        place = f"{quote(name, safe='')}{_AFTER}{quote(page[SOURCES - 1], safe='')}"
        following = COLLECTIONS + place
    return canonical.text({**found, "next": following, "sources": page[:SOURCES]})
