"""MCP: `server(authenticator, admission)`, for `redask mcp` and for `/mcp` of `redask serve`.

Its tools are in `mcp_tools`, its resources in `mcp_resources`. Names and ranges of options are
those of every surface; STREAM and EXPLAIN are not options. A client that sends a progress token
gets a notification for each piece of an answer.

A result is structured content, as its schema says, and the same as text. An error is a tool result
with `isError` whose text is the error's JSON, without structured content: the schema describes
results, and a client that checks it would hide what went wrong. A tool that does not exist is
the protocol's error −32602. Over HTTP, callers sign in by bearer token: see `mcp_endpoint`, which
also knows which request a client cancels.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from redask import __version__
from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import Cancelled
from redask.core.model import Answered, AnswerToken, Event, Failed, SourcesFound
from redask.core.wire import envelope, outcomes
from redask.core.wire import json as canonical
from redask.server import mcp_resources, mcp_tools
from redask.server.admission import Admission
from redask.server.http.request_sessions import signed_in
from redask.server.mcp_tools import TOOLS, Arguments, McpTool
from redask.server.request_json import asked
from redask.server.sessions import Authenticator, bearer
from redask.server.supervising.process_link import ProcessLink

RESOURCE_NOT_FOUND = -32002
SESSION_HEADER = "mcp-session-id"
_T = TypeVar("_T")
Context = ServerRequestContext[Any, Any]
RequestName = tuple[str, str | None, object]  # the session's label, the token, the request's id


class McpTransport:
    """The handlers: authenticator, admission and, on standard input, one token for all."""

    def __init__(
        self,
        authenticator: Authenticator,
        admission: Admission,
        token: str | None,
        link: ProcessLink | None = None,
    ) -> None:
        self._link = link
        if link is not None:  # a request may run in another process than it is cancelled in
            link.on("mcp_cancel", self._cancel_here)
        self._authenticator = authenticator
        self._admission = admission
        self._token = token
        self._running: dict[RequestName, asyncio.Task[Any]] = {}

    def server(self) -> Server[Any]:
        """The MCP server; its transports are the SDK's."""
        return Server(
            "redask",
            version=__version__,
            title="redask",
            instructions=(
                "Ask questions over the user's own data; cite the footnotes you are given."
            ),
            on_list_tools=self.tools,
            on_call_tool=self.call,
            on_list_resources=self.resources,
            on_list_resource_templates=self.templates,
            on_read_resource=self.read,
            on_completion=self.complete,
        )

    def cancel(self, name: RequestName) -> None:
        """Cancel a request that runs, for the client that sent it."""
        running = self._running.get(name)
        if running is not None:
            running.cancel()
        elif self._link is not None:
            label, token, request = name
            self._link.tell_others("mcp_cancel", label=label, token=token, request=request)

    def _cancel_here(self, label: str, token: str | None, request: object) -> None:
        running = self._running.get((label, token, request))
        if running is not None:
            running.cancel()

    async def tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[each.described() for each in TOOLS.values()])

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Any:
        tool = TOOLS.get(params.name)
        if tool is None:
            known = ", ".join(TOOLS)
            message = f"there is no tool {params.name[:60]!a}: {known}"
            raise MCPError(types.INVALID_PARAMS, message)
        try:
            session = await self._session(context)
            given = mcp_tools.checked(tool, params.arguments)
            result = await self._work(tool, session, given, context)
        except Exception as error:
            return _failed(error)
        text = types.TextContent(type="text", text=canonical.text(result))
        return types.CallToolResult(content=[text], structured_content=result)

    async def resources(self, context: Context, _: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=await self._reading(context, mcp_resources.listed)
        )

    async def templates(self, _: Context, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=mcp_resources.TEMPLATES)

    async def read(self, context: Context, params: types.ReadResourceRequestParams) -> Any:
        uri = str(params.uri)
        text = await self._reading(context, lambda session: mcp_resources.read(session, uri))
        if text is None:
            raise MCPError(RESOURCE_NOT_FOUND, f"there is no {uri[:200]} that you may read")
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[contents])

    async def complete(self, context: Context, params: types.CompleteRequestParams) -> Any:
        argument = params.argument
        found: list[str] = []
        if isinstance(params.ref, types.ResourceTemplateReference):
            found = await self._reading(
                context,
                lambda session: mcp_resources.completed(session, argument.name, argument.value),
            )
        most = mcp_resources.MOST_COMPLETIONS
        return types.CompleteResult(
            completion=types.Completion(
                values=found[:most], total=len(found), has_more=len(found) > most
            )
        )

    async def _work(
        self, tool: McpTool, session: AsyncDatabase, given: Arguments, context: Context
    ) -> Any:
        token = (context.meta or {}).get("progress_token")
        if tool.name != mcp_tools.ASK or token is None:
            return await self._admitted(context, session, lambda: tool.work(session, given))
        ask = asked(given)
        began, ended = self._noting(context)
        try:
            return await _progressing(
                self._admission.of(session.claim).stream(
                    lambda emit: session.answer(ask, emit), began=began
                ),
                lambda count, text: context.session.send_progress_notification(
                    token, count, message=text, related_request_id=str(context.request_id)
                ),
            )
        finally:
            ended()

    async def _reading(
        self, context: Context, work: Callable[[AsyncDatabase], Awaitable[_T]]
    ) -> _T:
        """What is no tool fails as the protocol's own errors."""
        try:
            session = await self._session(context)
            return await self._admitted(context, session, lambda: work(session))
        except Exception as error:
            code, body = outcomes.of(error).jsonrpc, outcomes.body(error)
            raise MCPError(code, outcomes.message(error), body) from None

    async def _admitted(
        self, context: Context, session: AsyncDatabase, work: Callable[[], Awaitable[_T]]
    ) -> _T:
        began, ended = self._noting(context)
        try:
            return await self._admission.of(session.claim).run(work, began=began)
        finally:
            ended()

    def _noting(
        self, context: Context
    ) -> tuple[Callable[[asyncio.Task[Any]], None], Callable[[], object]]:
        """What notes the task of a request, so that it can be cancelled; what forgets it."""
        name = _request_name(context)

        def began(task: asyncio.Task[Any]) -> None:
            if name is not None:
                self._running[name] = task

        return began, lambda: name and self._running.pop(name, None)

    async def _session(self, context: Context) -> AsyncDatabase:
        request = context.request
        if request is None:
            return await self._authenticator.sign_in(self._token)
        return await signed_in(request, self._authenticator)


def server(
    authenticator: Authenticator, admission: Admission, token: str | None = None
) -> Server[Any]:
    """The MCP server for one client, or for one that needs nothing of `McpTransport`."""
    return McpTransport(authenticator, admission, token).server()


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


def _request_name(context: Context) -> RequestName | None:
    """By what a client can name its request later; None if it cannot."""
    request = context.request
    label = request.headers.get(SESSION_HEADER) if request is not None else None
    if request is None or not label:
        return None
    return label, bearer(request.headers.get("authorization")), context.request_id


def _failed(error: Exception) -> types.CallToolResult:
    text = types.TextContent(type="text", text=canonical.text(outcomes.body(error)))
    return types.CallToolResult(content=[text], is_error=True)
