"""MCP: `server(authenticator, admission)`, for `redask mcp` and for `/mcp` of `redask serve`.

    redask_ask        question, options      the envelope, as structured content and as text
    redask_explain    question, options      the plan
    redask_search     question, options      the hits

    urn:reddb:…               a source, as the caller may read it
    redask://audit            the newest of the caller's audit rows

Names and ranges are those of every surface; STREAM and EXPLAIN are not options. A client that
sends a progress token gets a notification for each piece of the answer. An error is a tool
result with `isError`, its body the error's JSON. Over HTTP, callers sign in by bearer token.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from redask import __version__
from redask.api.asynchronous import AsyncDatabase
from redask.core import clauses, errors
from redask.core.errors import Cancelled
from redask.core.model import Answered, AnswerToken, Ask, Event, Failed, SourcesFound
from redask.core.wire import envelope, outcomes, schema
from redask.core.wire import json as canonical
from redask.server.admission import Admission
from redask.server.request_json import fields
from redask.server.sessions import Authenticator, audit_rows, bearer

AUDIT = "redask://audit"
_AUDIT_ROWS = 20
_TOOLS = {  # what they do, and the schema of what they return
    "redask_ask": (
        "Answer a question over the data, with footnotes [^N] to its sources.",
        schema.envelope,
    ),
    "redask_explain": (
        "Show what redask_ask would do: sources, provider, cost. Costs nothing.",
        schema.plan,
    ),
    "redask_search": ("Find what the data holds on a question, best first.", schema.hits),
}
_RESOURCE_NOT_FOUND = -32002

Context = ServerRequestContext[Any, Any]


class McpTransport:
    """The handlers: authenticator, admission and, on standard input, one token for all."""

    def __init__(
        self, authenticator: Authenticator, admission: Admission, token: str | None
    ) -> None:
        self._authenticator = authenticator
        self._admission = admission
        self._token = token

    async def tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(name) for name in _TOOLS])

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Any:
        try:
            session = await self._session(context)
            if params.name not in _TOOLS:
                raise errors.BadAsk(f"there is no tool {params.name[:60]!a}", detail="name")
            given = fields(params.arguments or {}, ("question", "options"), "arguments")
            ask = clauses.from_options(given.get("question"), given.get("options", {}))
            result = await self._work(params.name, session, ask, context)
        except Exception as error:
            return _result(outcomes.body(error), failed=True)
        return _result(result)

    async def resources(self, _: Context, __: Any) -> types.ListResourcesResult:
        audit = types.Resource(
            name="audit",
            uri=AUDIT,
            description="The newest of your own audit rows.",
            mime_type="application/json",
        )
        return types.ListResourcesResult(resources=[audit])

    async def templates(self, _: Context, __: Any) -> types.ListResourceTemplatesResult:
        source = types.ResourceTemplate(
            name="source",
            uri_template="urn:reddb:{kind}:{collection}/{id}",
            description="A source by its URN, as footnotes name it.",
            mime_type="application/json",
        )
        return types.ListResourceTemplatesResult(resource_templates=[source])

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> Any:
        uri = str(params.uri)
        try:
            session = await self._session(context)
            if uri == AUDIT:
                text = canonical.text(audit_rows(await session.audit(_AUDIT_ROWS)))
            else:
                found = await session.source(uri)
                text = "" if found is None else found.payload
        except Exception as error:
            raise MCPError(outcomes.of(error).jsonrpc, outcomes.message(error)) from None
        if not text:
            raise MCPError(_RESOURCE_NOT_FOUND, f"there is no {uri[:200]} that you may read")
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[contents])

    async def _work(self, tool: str, session: AsyncDatabase, ask: Ask, context: Context) -> object:
        if tool == "redask_explain":
            return await self._admission.run(lambda: session.plan(ask))
        if tool == "redask_search":
            return (await self._admission.run(lambda: session.find(ask))).to_dict()
        token = (context.meta or {}).get("progress_token")
        if token is None:
            return envelope.build(await self._admission.run(lambda: session.answer(ask)))
        return await _progressing(
            self._admission.stream(lambda emit: session.answer(ask, emit)),
            lambda count, text: context.session.send_progress_notification(
                token, count, message=text, related_request_id=str(context.request_id)
            ),
        )

    async def _session(self, context: Context) -> AsyncDatabase:
        request = context.request
        if request is None:
            return await self._authenticator.sign_in(self._token)
        return await self._authenticator.sign_in(bearer(request.headers.get("authorization")))


def server(
    authenticator: Authenticator, admission: Admission, token: str | None = None
) -> Server[Any]:
    """The MCP server; its transports are the SDK's."""
    transport = McpTransport(authenticator, admission, token)
    return Server(
        "redask",
        version=__version__,
        instructions="Ask questions over the user's own data; cite the footnotes you are given.",
        on_list_tools=transport.tools,
        on_call_tool=transport.call,
        on_list_resources=transport.resources,
        on_list_resource_templates=transport.templates,
        on_read_resource=transport.read,
    )


def quieten() -> None:
    """Let the SDK log nothing: to it, a client that disconnects is an error with a stack trace."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)


async def _progressing(
    events: AsyncGenerator[Event | None, None], notify: Callable[[float, str], Awaitable[None]]
) -> object:
    """The envelope of a stream, with a notification for each piece."""
    count = 0.0
    async with aclosing(events):
        async for event in events:
            match event:
                case SourcesFound(found):
                    count += 1
                    await notify(count, f"{len(found)} sources")
                case AnswerToken(text):
                    count += 1
                    await notify(count, text)
                case Failed(error):
                    raise error
                case Answered(answer):
                    return envelope.build(answer)
    raise Cancelled("the stream ended without an answer")


def _tool(name: str) -> types.Tool:
    text, output = _TOOLS[name]
    return types.Tool(
        name=name, description=text, input_schema=schema.ask(), output_schema=output()
    )


def _result(value: object, failed: bool = False) -> types.CallToolResult:
    text = types.TextContent(type="text", text=canonical.text(value))
    structured: Any = value if isinstance(value, dict) else None
    return types.CallToolResult(content=[text], structured_content=structured, is_error=failed)
