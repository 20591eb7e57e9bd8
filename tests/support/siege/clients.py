"""Small clients for attacks: HTTP requests by `requested`, SELECTs on the wire by `selected`."""

import http.client
import json
import threading
from contextlib import suppress

import psycopg

from siege.attack import HOST, Target

_held = threading.local()


def requested(
    target: Target,
    method: str,
    path: str,
    body: bytes,
    *,
    token: str | None = None,
    **headers: str,
) -> str:
    """Send one request on this thread's connection. → the status, or what went wrong"""
    connection: http.client.HTTPConnection | None = getattr(_held, "http", None)
    if connection is None:
        connection = http.client.HTTPConnection(HOST, target.at.http_port)
        _held.http = connection
    connection.timeout = max(1.0, target.left() + 1)
    given = {"Content-Type": "application/json"}
    if token:
        given["Authorization"] = f"Bearer {token}"
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        connection.request(method, path, body, given)
        reply = connection.getresponse()
        while reply.read(1 << 20):
            pass
        return str(reply.status)
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        _held.http = None
        return type(error).__name__


def posted(target: Target, path: str, body: object) -> str:
    """Post JSON as the attacking reader."""
    return requested(target, "POST", path, json.dumps(body).encode(), token=target.at.reader)


def selected(target: Target, sql: str) -> str:
    """Run a statement on this thread's connection of the Postgres wire. → the SQLSTATE"""
    connection: psycopg.Connection | None = getattr(_held, "pg", None)
    try:
        if connection is None or connection.closed:
            connection = psycopg.connect(
                host=HOST,
                port=target.at.pg_port,
                user="eve",
                password=target.at.reader,
                dbname=target.at.tenant,
                autocommit=True,
                connect_timeout=10,
            )
            _held.pg = connection
        with connection.cursor() as cursor:
            cursor.execute(sql.encode())
            for _ in cursor:
                if target.over():
                    break
        return "00000"
    except psycopg.Error as error:
        if error.sqlstate is None:
            with suppress(psycopg.Error):
                if connection is not None:
                    connection.close()
            _held.pg = None
        return error.sqlstate or "lost"
