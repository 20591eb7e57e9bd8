"""What `redask doctor` tells: `health_report(app, …)`; `problems` is empty when all is well."""

from collections.abc import Mapping
from functools import partial

from redask.app import App
from redask.app.deep_check import DeepReport, deep_check
from redask.core.access.policy import must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.rules.audit_chain import Broken, Intact
from redask.index.partition import Health
from redask.stores import backend
from redask.stores.auditing.audit_rows import ACCESSES
from redask.stores.selectors import verify_tables

NO_INDEX = Health(0, 0, 0, 0, 0)  # of a database that is read only: nobody searches it


def health_report(
    app: App,
    caller: Caller,
    rebuild_index: bool,
    *,
    deep: bool = False,
    progress: backend.CheckProgress | None = None,
) -> dict[str, object]:
    """What is there, what is pending, what is wrong; `deep`: see `deep_check`."""
    must_own(caller)
    if rebuild_index:
        app.index.rebuild(caller.tenant)
    found, writable = DeepReport(), not app.backend.read_only
    if deep:
        if not writable:
            raise BadAsk("--deep mends what is derived, and this database is read-only")
        tables = partial(verify_tables, app.directory)
        found = deep_check(app.backend, app.index, caller, progress, tables)
        app.embed(caller)
    store = app.backend.store.statistics(caller)
    index = app.index.health(caller.tenant) if writable else NO_INDEX
    problems = app.backend.store.check()
    if index.problem:
        problems.append(f"index: {index.problem}")
    verdict = app.verify_audit(caller)
    if isinstance(verdict, Broken):
        problems.append(f"audit log: {verdict.reason}")
    if isinstance(accesses := app.verify_audit(caller, ACCESSES), Broken):
        problems.append(f"access log: {accesses.reason}")
    problems += app.sealing.problems()
    return {
        "store": {
            "watermark": store.watermark,
            "collections": len(store.collections),
            "entities": store.entities,
            "edges": store.edges,
            "vectors": store.vectors,
        },
        "index": {
            "watermark": index.watermark,
            "pending": index.pending,
            "entities": index.entities,
        },
        "embedding": _embedding(app, caller),
        "relabelling": app.relabelling.progress(caller.tenant),
        "audit": {"rows": verdict.rows if isinstance(verdict, Intact) else 0},
        "files": _with_index(app.backend.files(), index.bytes),
        "problems": [*problems, *found.problems],
        "mended": found.mended,
        "warnings": [
            *app.opener.passed_over(),
            *(() if app.backend.read_only else app.plan_sources.warnings(caller)),
            *app.backend.store.policy_faults(caller),
        ],
    }


def _embedding(app: App, caller: Caller) -> dict[str, object]:
    """Who makes vectors, who made those there are, and how many entities wait for one."""
    stage, space = app.retriever.embedding, app.backend.store.view(caller).space
    return {
        "embedder": stage.embedder.model if stage else "none",
        "model": space[0] if space else "none",
        "pending": stage.pending(caller.tenant) if stage else 0,
    }


def _with_index(files: Mapping[str, int], size: int) -> dict[str, int]:
    """The files as `doctor` lists them: the data, the index, then what calls left."""
    *listed, last = files.items()
    return dict([*listed, ("index", size), last])
