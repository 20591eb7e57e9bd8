"""Makes a model with int8 weights compute in int8: `quantised(model, rows)` rewrites ONNX.

As shipped, the graph turns its weights back into floats and multiplies those:

    Cast(weights int8) → Mul(scale of each column) → MatMul(x, ·) → Add(bias)

Each such chain becomes one `DynamicQuantizeMatMul(x, weights, scale, bias)` of the runtime: the
weights are taken as they are (nothing is quantised anew), x is quantised as it comes, with one
scale for all of it. Weights of more than `rows` rows stay floats: what a wide inner layer hands
on has outliers, for which one scale is too coarse.

A pure function of the file's bytes. It reads protobuf's wire format directly, of which it needs
two kinds of fields, so that the package `onnx` (and what it drags along) need not be installed.
A graph without any such chain is refused: it is not the one this was measured with.

    message     fields used here
    Model       7 graph · 8 opset {1 domain, 2 version}
    Graph       1 node · 5 initializer
    Node        1 input · 2 output · 4 operator · 7 domain
    Tensor      1 dims · 8 name
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_VARINT, _BYTES = 0, 2
_RUNTIME_DOMAIN = b"com.microsoft"

WireField = tuple[int, int, bytes]  # number, kind, what stands there without its length


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One operation: its fields as they were read, and the three that matter here."""

    fields: tuple[WireField, ...]
    operator: bytes
    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]


def quantised(model: bytes, rows: int) -> bytes:
    """The same model with weights of at most so many rows multiplied as integers."""
    parts = [
        (number, kind, _graph(value, rows) if number == 7 else value)
        for number, kind, value in _fields(model)
    ]
    version = _joined([(1, _BYTES, _RUNTIME_DOMAIN), (2, _VARINT, b"\x01")])
    return _joined([*parts, (8, _BYTES, version)])


def _graph(graph: bytes, rows: int) -> bytes:
    parts = list(_fields(graph))
    tensors = {_name(value): _sizes(value) for number, _, value in parts if number == 5}
    nodes = [_node(value) for number, _, value in parts if number == 1]
    rewritten, scales = _rewritten(nodes, tensors, rows)
    if not scales:
        raise ValueError("the model has no int8 weights to multiply")
    kept = [
        (number, kind, _flat(value) if number == 5 and _name(value) in scales else value)
        for number, kind, value in parts
        if number != 1
    ]
    return _joined([*((1, _BYTES, _joined(node.fields)) for node in rewritten), *kept])


def _rewritten(
    nodes: Sequence[OnnxNode], tensors: Mapping[bytes, list[int]], rows: int
) -> tuple[list[OnnxNode], set[bytes]]:
    """The nodes with every chain replaced, and the names of the scales in them."""
    makers = {output: node for node in nodes for output in node.outputs}
    users: dict[bytes, list[OnnxNode]] = {}
    for node in nodes:
        for name in node.inputs:
            users.setdefault(name, []).append(node)
    scales: set[bytes] = set()
    gone: set[bytes] = set()  # outputs nobody makes any more
    placed: dict[bytes, OnnxNode] = {}
    for node in nodes:
        scaled = makers.get(node.inputs[1]) if node.operator == b"MatMul" else None
        cast = makers.get(scaled.inputs[0]) if scaled and scaled.operator == b"Mul" else None
        if scaled is None or cast is None or cast.operator != b"Cast":
            continue
        if scaled.inputs[1] not in tensors or tensors.get(cast.inputs[0], [rows + 1])[0] > rows:
            continue
        inputs = [node.inputs[0], cast.inputs[0], scaled.inputs[1], b""]
        output = node.outputs[0]
        following = users[output]
        added = following[0] if len(following) == 1 and following[0].operator == b"Add" else None
        bias = next((name for name in added.inputs if name in tensors), None) if added else None
        if added is not None and bias is not None:
            inputs.append(bias)
            gone.add(added.outputs[0])
            output = added.outputs[0]
        scales.add(scaled.inputs[1])
        gone.update((scaled.outputs[0], cast.outputs[0]))
        placed[node.outputs[0]] = _product(inputs, output)
    kept = [node for node in nodes if node.outputs[0] not in gone]
    return [placed.get(node.outputs[0], node) for node in kept], scales


def _product(inputs: Sequence[bytes], output: bytes) -> OnnxNode:
    operator = b"DynamicQuantizeMatMul"
    fields = (
        *((1, _BYTES, name) for name in inputs),
        (2, _BYTES, output),
        (4, _BYTES, operator),
        (7, _BYTES, _RUNTIME_DOMAIN),
    )
    return OnnxNode(fields, operator, tuple(inputs), (output,))


def _node(value: bytes) -> OnnxNode:
    fields = tuple(_fields(value))
    named: dict[int, list[bytes]] = {1: [], 2: [], 4: []}
    for number, _, content in fields:
        if number in named:
            named[number].append(content)
    return OnnxNode(fields, named[4][0], tuple(named[1]), tuple(named[2]))


def _name(tensor: bytes) -> bytes:
    return next((value for number, _, value in _fields(tensor) if number == 8), b"")


def _flat(tensor: bytes) -> bytes:
    """A tensor with all its numbers in one dimension."""
    flat: WireField = (1, _VARINT, _encoded(math.prod(_sizes(tensor))))
    return _joined([flat, *(each for each in _fields(tensor) if each[0] != 1)])


def _sizes(tensor: bytes) -> list[int]:
    """The dimensions of a tensor, written one by one or packed."""
    sizes: list[int] = []
    for number, kind, value in _fields(tensor):
        if number == 1:
            sizes += [_varint(value, 0)[0]] if kind == _VARINT else _packed(value)
    return sizes


# --- protobuf's wire format --------------------------------------------------------------


def _fields(message: bytes) -> Iterator[WireField]:
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        number, kind = key >> 3, key & 7
        start = place
        if kind == _VARINT:
            _, place = _varint(message, place)
        elif kind == _BYTES:
            length, start = _varint(message, place)
            place = start + length
        else:
            place += {1: 8, 5: 4}[kind]
        yield number, kind, message[start:place]


def _joined(fields: Sequence[WireField]) -> bytes:
    pieces = []
    for number, kind, value in fields:
        pieces.append(_encoded(number << 3 | kind))
        if kind == _BYTES:
            pieces.append(_encoded(len(value)))
        pieces.append(value)
    return b"".join(pieces)


def _varint(message: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[place]
        place += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, place


def _packed(value: bytes) -> list[int]:
    numbers, place = [], 0
    while place < len(value):
        number, place = _varint(value, place)
        numbers.append(number)
    return numbers


def _encoded(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
