"""Rewrites an ONNX graph with int8 weights to multiply in int8: `quantised(model, rows)`.

As shipped, the graph dequantises its weights and multiplies floats:

    Cast(weights int8) → Mul(scale of each column) → MatMul(x, ·) → Add(bias)

Each such chain becomes one operator `DynamicQuantizeMatMul(x, weights, scale, bias)` of the
runtime: the weights are used as they are, x is quantised dynamically, with one scale for the whole
tensor. Weights of more than `rows` rows stay floats: the activations of a wide inner layer have
outliers, for which one scale is too coarse.

A pure function of the file's bytes. It parses protobuf's wire format directly, of which it needs
two wire types, so that the package `onnx` and its dependencies need not be installed. A graph
without any such chain is refused.

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

WireField = tuple[int, int, bytes]  # number, wire type, value without its length


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One node of the graph: all its fields, and the three that are used here."""

    fields: tuple[WireField, ...]
    operator: bytes
    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]


def quantised(model: bytes, rows: int) -> bytes:
    """The same model with weights of at most `rows` rows multiplied as integers."""
    parts = [
        (number, wire_type, _graph(value, rows) if number == 7 else value)
        for number, wire_type, value in _decode_fields(model)
    ]
    version = _encode_fields([(1, _BYTES, _RUNTIME_DOMAIN), (2, _VARINT, b"\x01")])
    return _encode_fields([*parts, (8, _BYTES, version)])


def _graph(graph: bytes, rows: int) -> bytes:
    parts = list(_decode_fields(graph))
    tensors = {_name(value): _dims(value) for number, _, value in parts if number == 5}
    nodes = [_node(value) for number, _, value in parts if number == 1]
    rewritten, scales = _rewritten(nodes, tensors, rows)
    if not scales:
        raise ValueError("the ONNX graph has no int8 weights to multiply")
    kept = [
        (number, wire_type, _flattened(value) if number == 5 and _name(value) in scales else value)
        for number, wire_type, value in parts
        if number != 1
    ]
    return _encode_fields(
        [*((1, _BYTES, _encode_fields(node.fields)) for node in rewritten), *kept]
    )


def _rewritten(
    nodes: Sequence[OnnxNode], tensors: Mapping[bytes, list[int]], rows: int
) -> tuple[list[OnnxNode], set[bytes]]:
    """The nodes with every chain replaced, and the names of the scales of those chains."""
    producers = {output: node for node in nodes for output in node.outputs}
    consumers: dict[bytes, list[OnnxNode]] = {}
    for node in nodes:
        for name in node.inputs:
            consumers.setdefault(name, []).append(node)
    scales: set[bytes] = set()
    removed: set[bytes] = set()  # outputs of nodes that are replaced
    replacements: dict[bytes, OnnxNode] = {}
    for node in nodes:
        scaled = producers.get(node.inputs[1]) if node.operator == b"MatMul" else None
        cast = producers.get(scaled.inputs[0]) if scaled and scaled.operator == b"Mul" else None
        if scaled is None or cast is None or cast.operator != b"Cast":
            continue
        if scaled.inputs[1] not in tensors or tensors.get(cast.inputs[0], [rows + 1])[0] > rows:
            continue
        inputs = [node.inputs[0], cast.inputs[0], scaled.inputs[1], b""]
        output = node.outputs[0]
        following = consumers[output]
        added = following[0] if len(following) == 1 and following[0].operator == b"Add" else None
        bias = next((name for name in added.inputs if name in tensors), None) if added else None
        if added is not None and bias is not None:
            inputs.append(bias)
            removed.add(added.outputs[0])
            output = added.outputs[0]
        scales.add(scaled.inputs[1])
        removed.update((scaled.outputs[0], cast.outputs[0]))
        replacements[node.outputs[0]] = _product(inputs, output)
    kept = [node for node in nodes if node.outputs[0] not in removed]
    return [replacements.get(node.outputs[0], node) for node in kept], scales


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
    fields = tuple(_decode_fields(value))
    named: dict[int, list[bytes]] = {1: [], 2: [], 4: []}
    for number, _, content in fields:
        if number in named:
            named[number].append(content)
    return OnnxNode(fields, named[4][0], tuple(named[1]), tuple(named[2]))


def _name(tensor: bytes) -> bytes:
    return next((value for number, _, value in _decode_fields(tensor) if number == 8), b"")


def _flattened(tensor: bytes) -> bytes:
    """A tensor reshaped to one dimension."""
    flat: WireField = (1, _VARINT, _encode_varint(math.prod(_dims(tensor))))
    return _encode_fields([flat, *(each for each in _decode_fields(tensor) if each[0] != 1)])


def _dims(tensor: bytes) -> list[int]:
    """The dimensions of a tensor, encoded one by one or packed."""
    sizes: list[int] = []
    for number, wire_type, value in _decode_fields(tensor):
        if number == 1:
            sizes += (
                [_decode_varint(value, 0)[0]] if wire_type == _VARINT else _decode_packed(value)
            )
    return sizes


# --- protobuf's wire format --------------------------------------------------------------


def _decode_fields(message: bytes) -> Iterator[WireField]:
    position = 0
    while position < len(message):
        key, position = _decode_varint(message, position)
        number, wire_type = key >> 3, key & 7
        start = position
        if wire_type == _VARINT:
            _, position = _decode_varint(message, position)
        elif wire_type == _BYTES:
            length, start = _decode_varint(message, position)
            position = start + length
        else:
            position += {1: 8, 5: 4}[wire_type]
        yield number, wire_type, message[start:position]


def _encode_fields(fields: Sequence[WireField]) -> bytes:
    pieces = []
    for number, wire_type, value in fields:
        pieces.append(_encode_varint(number << 3 | wire_type))
        if wire_type == _BYTES:
            pieces.append(_encode_varint(len(value)))
        pieces.append(value)
    return b"".join(pieces)


def _decode_varint(message: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[position]
        position += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, position


def _decode_packed(value: bytes) -> list[int]:
    numbers, position = [], 0
    while position < len(value):
        number, position = _decode_varint(value, position)
        numbers.append(number)
    return numbers


def _encode_varint(number: int) -> bytes:
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
