"""Taking the logs as they are, though something is wrong with them: `accept_logs`; for owners."""

from redask.core.access.policy import must_own
from redask.core.model import Caller
from redask.core.ports import AuditLog
from redask.core.rules.audit_chain import Broken
from redask.stores.relational.auditing.anchors import RelationalAnchors


def accept_logs(
    anchors: RelationalAnchors, logs: tuple[AuditLog, ...], caller: Caller, reason: str
) -> str:
    """Note in the log what was wrong and why it is accepted. → what was wrong; empty: nothing"""
    must_own(caller)
    verdicts = [log.verify() for log in logs]
    faults = [each.reason for each in verdicts if isinstance(each, Broken)]
    fault = faults[0] if faults else ""
    if fault:
        anchors.accept(fault, caller.user, reason)
    return fault
