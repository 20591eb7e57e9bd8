"""Frames as server-sent events: `encode` an event to bytes.

    event: <name>\\n
    data: <line of the payload>\\n      one for each line; canonical JSON has exactly one
    \\n

Nothing more. A `HEARTBEAT` is a comment and stands between frames.
"""

from redask.model import Event
from redask.wire import frames, json

HEARTBEAT = b": \n\n"


def encode(event: Event) -> bytes:
    """The bytes of one frame."""
    frame = frames.of(event)
    lines = json.encode(frame.payload).split(b"\n")
    data = b"".join(b"data: " + line + b"\n" for line in lines)
    return b"event: " + frame.name.encode() + b"\n" + data + b"\n"
