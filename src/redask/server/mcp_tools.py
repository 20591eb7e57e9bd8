"""The tools of MCP: `TOOLS`, a row each, and `run` one for a caller.

    redask_ask            question, options                the envelope
    redask_explain        question, options                the plan: sources, provider, cost
    redask_plan           question, options                the SELECT that would be computed
    redask_search         question, options                the hits
    redask_select         statement, params, max_rows      rows, with the types of the columns
    redask_collections    nothing                          collections with columns and counts
    redask_source         urn                              one source

All of them read, and only what the caller may read; each is one unit of work for `Admission`.
Integers that JavaScript would round are texts, but for the envelope, which has none.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import BadAsk
from redask.core.wire import data_schemas, envelope, schema
from redask.core.wire.row_json import for_browsers
from redask.server.request_json import asked, fields
from redask.server.table_reading import collections, selected

Arguments = Mapping[str, object]
ASK = "redask_ask"


@dataclass(frozen=True, slots=True)
class McpTool:
    """One row. `leaves`: a vendor's model may be asked, if the settings name one."""

    name: str
    title: str
    text: str
    takes: Callable[[], dict[str, object]]
    returns: Callable[[], dict[str, object]]
    work: Callable[[AsyncDatabase, Arguments], Awaitable[object]]
    leaves: bool = False

    def described(self) -> types.Tool:
        """As clients list it."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.text,
            input_schema=self.takes(),
            output_schema=self.returns(),
            annotations=types.ToolAnnotations(
                title=self.title,
                read_only_hint=True,
                destructive_hint=False,
                idempotent_hint=True,
                open_world_hint=self.leaves,
            ),
        )


async def _ask(session: AsyncDatabase, given: Arguments) -> object:
    return envelope.build(await session.answer(asked(given)))


async def _explain(session: AsyncDatabase, given: Arguments) -> object:
    return for_browsers(await session.plan(asked(given)))


async def _plan(session: AsyncDatabase, given: Arguments) -> object:
    return await session.outline(asked(given))


async def _search(session: AsyncDatabase, given: Arguments) -> object:
    return (await session.find(asked(given))).to_dict()


async def _source(session: AsyncDatabase, given: Arguments) -> object:
    urn = given.get("urn")
    if not isinstance(urn, str):
        raise BadAsk("urn: expected a text", detail="urn")
    found = await session.source(urn)
    if found is None:
        raise BadAsk(f"there is no {urn[:200]!a} that you may read", detail="urn")
    return {"payload": found.payload, "urn": found.urn}


TOOLS = {
    row.name: row
    for row in (
        McpTool(
            ASK,
            "Ask a question",
            "Answer a question over the data, with footnotes [^N] to its sources.",
            schema.ask,
            schema.envelope,
            _ask,
            leaves=True,
        ),
        McpTool(
            "redask_explain",
            "Explain an ask",
            "Show what redask_ask would do: sources, provider, cost. Costs nothing.",
            schema.ask,
            schema.plan,
            _explain,
        ),
        McpTool(
            "redask_plan",
            "Plan a SELECT",
            "Show the SELECT that redask_ask would compute a question with, or which of its words "
            "are unclear. Nothing is run.",
            schema.ask,
            data_schemas.outline,
            _plan,
        ),
        McpTool(
            "redask_search",
            "Search",
            "Find what the data holds on a question, best first.",
            schema.ask,
            schema.hits,
            _search,
        ),
        McpTool(
            "redask_select",
            "Run a SELECT",
            "Run one read-only SELECT in PostgreSQL's dialect; redask_collections lists the "
            "tables and their columns.",
            data_schemas.select,
            data_schemas.selected,
            selected,
        ),
        McpTool(
            "redask_collections",
            "List collections",
            "List the collections (tables) with their columns, types and how many entities they "
            "hold.",
            data_schemas.nothing,
            data_schemas.collections,
            collections,
        ),
        McpTool(
            "redask_source",
            "Read a source",
            "Read one source by its URN, as a footnote names it.",
            data_schemas.urn,
            schema.source,
            _source,
        ),
    )
}


def checked(tool: McpTool, arguments: object) -> Arguments:
    """The arguments, if the tool knows all of them; `BadAsk` names the one it does not."""
    described: Any = tool.takes()["properties"]
    return fields({} if arguments is None else arguments, tuple(described), "arguments")
