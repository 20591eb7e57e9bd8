"""The doors: each carries questions in and answers out, and decides nothing.

    http        HTTP/JSON and server-sent events                `redask serve`
    grpc_door   gRPC                                            `redask serve`
    mcp_door    the Model Context Protocol, at /mcp or stdio    `redask serve`, `redask mcp`
    rpc         JSON-RPC 2.0 on standard input                  `redask rpc`

A door speaks to a `Desk` (see `desk`), which signs callers in, and to the `Gate`, which says how
many may ask at once. What an error is on each wire is told by one table, `wire.outcomes`.
"""
