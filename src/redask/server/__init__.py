"""The transports: each carries questions in and answers out, and decides nothing.

    http/           HTTP/JSON and server-sent events                `redask serve`
    grpc/           gRPC                                            `redask serve`
    pgwire/         PostgreSQL's protocol                           `redask serve`
    mcp_…           the Model Context Protocol, at /mcp or stdio    `redask serve`, `redask mcp`
    jsonrpc         JSON-RPC 2.0 on standard input                  `redask rpc`

A transport asks the `Authenticator` (see `sessions`) for the session of a caller, and asks through
`Admission`, which limits how many run at once. `serving` opens and closes them. What an error
is on each wire is one table, `wire.outcomes`.
"""
