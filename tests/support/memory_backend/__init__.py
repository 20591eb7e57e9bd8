"""A second backend, in memory and without SQL: it shows what a backend has to bring of its own.

Everything it decides it asks the shared rules in `redask.stores`. One state holds all data; a
write works on a copy and puts it in place when it succeeds, so readers see whole states only.
Databases live as long as the process, under their location (`memory://name`).
"""

from memory_backend.database import ROW, MemoryBackend

__all__ = ["ROW", "MemoryBackend"]
