"""Whether an object is a wrapper of tables: `Shape` of its values, told one by one.

    {"issues": [{…}, …], "pulls": [{…}]}          two lists of objects or more
    {"total": 2, "next": null, "items": [{…}]}    one, and all others are words of an envelope
    {"number": 7, "lines": [{…}, {…}]}            no wrapper: one record, with its parts
    {"id": 7, …}                                  no wrapper: it has an identity of its own

A list that is empty is of objects, but one of them must not be.
"""

from collections.abc import Iterable

ENVELOPE = frozenset(
    """
    $schema api_version apiversion copyright count cursor date exported exported_at format generated
    generated_at generator has_more hasmore has_next info kind limit links meta metadata next
    next_cursor next_page num_results object offset ok page page_size pages pagination per_page prev
    previous schema size source status success timestamp title total total_count totalcount
    total_pages updated updated_at url version warnings
    """.split()
)
_IDS = ("id", "_id")


class Shape:
    """The values of an object so far; `tables` are the keys of its lists of objects."""

    def __init__(self) -> None:
        self.tables: set[str] = set()
        self._is_filled = False
        self._is_envelope = True
        self._has_id = False

    def add_list(self, key: str, elements: Iterable[object]) -> None:
        """A list; its elements are looked at one by one, and not kept."""
        count, are_objects = 0, True
        for each in elements:
            count += 1
            are_objects = are_objects and isinstance(each, dict)
        if are_objects:
            self.tables.add(key)
            self._is_filled = self._is_filled or count > 0
        else:
            self.add(key, None)

    def add(self, key: str, value: object) -> None:
        """Any other value."""
        self._is_envelope = self._is_envelope and key.lower() in ENVELOPE
        self._has_id = self._has_id or (key in _IDS and not isinstance(value, dict | list))

    @property
    def is_wrapped(self) -> bool:
        """Whether the object wraps tables."""
        return self._is_filled and not self._has_id and (len(self.tables) > 1 or self._is_envelope)
