"""The part of the OpenAPI document that chat programs know already."""

from typing import Any

from redask.core.wire import administration_schemas
from redask.core.wire.chat import chat_schemas
from redask.server.http.openapi.operations import operation, path

_FAILURE = "ChatFailure"


def chat_paths() -> dict[str, Any]:
    """The paths and their operations."""
    completed = operation(
        *("createChatCompletion", "ask", "Answer a question, in the shape of OpenAI's API."),
        *(chat_schemas.request(), chat_schemas.completion()),
        failure=_FAILURE,
    )
    chunks = {"schema": chat_schemas.chunk()}
    completed["responses"]["200"]["content"]["text/event-stream"] = chunks
    name = path("model", "Its name.", administration_schemas.any_name())
    model = chat_schemas.model()
    return {
        "/v1/chat/completions": {"post": completed},
        "/v1/models": {
            "get": operation(
                *("listModels", "ask", "The database, as a model."),
                *(None, chat_schemas.models()),
                failure=_FAILURE,
            )
        },
        "/v1/models/{model}": {
            "get": operation(
                *("getModel", "ask", "The same, by its name.", None, model),
                parameters=[name],
                failure=_FAILURE,
            )
        },
    }
