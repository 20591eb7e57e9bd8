"""Frames as server-sent events: `encode` an event to bytes.

    event: <name>\\n
    data: <the payload>\\n      one line, as canonical JSON always is
    \\n

There are no other fields. A `HEARTBEAT` is a comment, sent between frames.
"""

from redask.core.model import Event
from redask.core.wire import frames, json

HEARTBEAT = b": \n\n"


def encode(event: Event) -> bytes:
    """The bytes of one frame."""
    frame = frames.of(event)
    return b"event: %b\ndata: %b\n\n" % (frame.name.encode(), json.encode(frame.payload))
