"""What a caller may see of an entity: `show` it, or nothing.

Every payload that leaves a store passes here, whatever the method and whatever the store:
this is the one place where a policy decides. For now everybody sees everything of their own
tenant; tenants are kept apart by the stores' queries themselves.
"""

from redask.model import Caller, Source


def show(source: Source, caller: Caller) -> Source | None:  # noqa: ARG001 - the policy's seam
    """The source as this caller may see it, or None."""
    return source
