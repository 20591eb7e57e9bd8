"""What can be said of a database's location before it is opened; nothing is made."""

from redask.stores.backends import backend_for


def is_database(location: str) -> bool:
    """Whether there is a database at a location."""
    return backend_for(location).exists(location)


def shown_location(location: str) -> str:
    """A location for messages: without a password."""
    return backend_for(location).shown(location)
