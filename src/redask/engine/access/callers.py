"""Who may ask at all: `check_caller`."""

from redask.core import text
from redask.core.errors import BadAsk
from redask.core.model import Caller


def check_caller(caller: Caller) -> None:
    """`BadAsk` if a tenant, user or role is not a name; a role may be empty."""
    for name, value in (("tenant", caller.tenant), ("user", caller.user), ("role", caller.role)):
        fault = text.name_fault(value) if value or name != "role" else None
        if fault:
            raise BadAsk(f"the {name} {fault}", detail=name)
