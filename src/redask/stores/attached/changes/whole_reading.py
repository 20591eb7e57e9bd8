"""Changes by reading everything anew: what is equal leaves no write. For small tables."""

from redask.stores.attached.attachment import Attachment
from redask.stores.attached.changes import Changed
from redask.stores.attached.source_connection import AttachedDatabase, Connection


class WholeReading:
    """See the module."""

    def __init__(self, attachment: Attachment, _source: AttachedDatabase) -> None:
        self._tables = frozenset(each.full_name for each in attachment.tables)

    def install(self) -> None:
        """Nothing is needed."""

    def position(self, _reader: Connection) -> str:
        """There is none."""
        return "read"

    def changed(self, _reader: Connection, after: str) -> Changed:
        """Everything may have."""
        return Changed(after, whole=self._tables)

    def forget(self, position: str) -> None:
        """Nothing was kept."""

    def uninstall(self) -> None:
        """Nothing was made."""
