"""What the engine needs from the outside, as Protocols: data, records, and providers.

    entities       what is written, the change log, what a caller may see, vectors to come
    origins        which entities came from which file
    search         the search index, the embedder
    completions    providers
    call_records   audit log, answer cache, ledger
    sealed_logs    the Merkle trees of the logs, and their checkpoints
    selecting      SELECT

Every read takes the `Caller`: an adapter shows nobody more than that caller may see. All but a
provider is synchronous, and may take its time: the shell chooses the thread. URNs are in their
encoded form. Adapters raise `errors.AskError` only.
"""

from redask.core.ports.call_records import (
    Account,
    AnswerCache,
    AuditEntry,
    AuditLog,
    AuditRow,
    CachedAnswer,
    Ledger,
    Spending,
    TracedEntry,
)
from redask.core.ports.completions import (
    Completion,
    Connected,
    Provider,
)
from redask.core.ports.entities import (
    Change,
    EmbeddingLease,
    Entity,
    Store,
    StoreView,
    Unembedded,
    VectorStore,
    Visibility,
)
from redask.core.ports.origins import (
    LINK_LABEL,
    DeclaredKey,
    FileLink,
    Load,
    LoadOutcome,
    Origin,
    OriginFacts,
    OriginManifest,
)
from redask.core.ports.sealed_logs import SealedLogs, SinkFault
from redask.core.ports.search import (
    Embedder,
    EmbeddingCharge,
    EmbeddingMeter,
    Found,
    Index,
    Query,
)
from redask.core.ports.selecting import (
    SELECT_MS,
    SELECT_ROWS,
    Cancellation,
    Selector,
    SelectResult,
    SelectShape,
    TableShape,
)

__all__ = [
    "LINK_LABEL",
    "SELECT_MS",
    "SELECT_ROWS",
    "Account",
    "AnswerCache",
    "AuditEntry",
    "AuditLog",
    "AuditRow",
    "CachedAnswer",
    "Cancellation",
    "Change",
    "Completion",
    "Connected",
    "DeclaredKey",
    "Embedder",
    "EmbeddingCharge",
    "EmbeddingLease",
    "EmbeddingMeter",
    "Entity",
    "FileLink",
    "Found",
    "Index",
    "Ledger",
    "Load",
    "LoadOutcome",
    "Origin",
    "OriginFacts",
    "OriginManifest",
    "Provider",
    "Query",
    "SealedLogs",
    "SelectResult",
    "SelectShape",
    "Selector",
    "SinkFault",
    "Spending",
    "Store",
    "StoreView",
    "TableShape",
    "TracedEntry",
    "Unembedded",
    "VectorStore",
    "Visibility",
]
