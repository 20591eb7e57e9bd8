"""The part of the OpenAPI document that is about sessions, tables, files, users and policies."""

from typing import Any

from redask.core.wire import administration_schemas as schemas
from redask.core.wire import data_schemas
from redask.server.http.administration_routes import MOST_SAMPLED, SAMPLED
from redask.server.http.openapi.operations import content, log_name, open_operation, operation, path


def administration_paths() -> dict[str, Any]:
    """The paths and their operations."""
    collection = path("collection", "Its name.", data_schemas.collection_name())
    any_collection = path("collection", "Its name.", schemas.any_name())
    session = schemas.session()
    shown = open_operation("getSession", "Who is signed in.", content("Done.", session))
    ended = operation("endSession", "server", "Sign this browser out.", None, session)
    begun = operation("beginSession", "server", "Sign this browser in.", None, session)
    preview = schemas.preview(SAMPLED, MOST_SAMPLED)
    tried = operation(
        *("previewPolicy", "access", "Try a policy on the rows there are."),
        *(preview, schemas.previewed()),
        parameters=[any_collection],
    )
    written = operation(
        *("setPolicy", "access", "Set a policy, or none.", schemas.new_policy()),
        schemas.set_policy(),
        parameters=[collection],
    )
    return {
        "/v1/session": {"get": shown, "post": begun, "delete": ended},
        "/v1/collections": {
            "get": operation(
                *("listCollections", "data", "The collections and their columns."),
                *(None, data_schemas.collections()),
            )
        },
        "/v1/select": {
            "post": operation(
                *("select", "data", "Run a SELECT; rows with the types of the columns."),
                *(data_schemas.select(), data_schemas.selected()),
            )
        },
        "/v1/ingest": {
            "post": operation(
                *("ingestFile", "data", "Read a file into the database."),
                *(schemas.upload(), schemas.ingested()),
            )
        },
        "/v1/policies": {
            "get": operation(
                "listPolicies", "access", "The policies in force.", None, schemas.policies()
            )
        },
        "/v1/policies/{collection}": {"put": written},
        "/v1/policies/{collection}/preview": {"post": tried},
        "/v1/users": {"get": operation("listUsers", "access", "The users.", None, schemas.users())},
        "/v1/audit/verify": {
            "get": operation(
                *("verifyAudit", "audit", "Whether a log is as it was written."),
                *(None, schemas.log_state()),
                parameters=[log_name()],
            )
        },
    }
