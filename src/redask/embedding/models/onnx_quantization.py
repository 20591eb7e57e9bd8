"""Rewrites an ONNX graph with int8 weights to multiply in int8: `quantised(model, rows)`.

As shipped, the graph dequantises its weights and multiplies floats:

    Cast(weights int8) → Mul(scale of each column) → MatMul(x, ·) → Add(bias)

Each such chain becomes one operator `DynamicQuantizeMatMul(x, weights, scale, bias)` of the
runtime: the weights are used as they are, x is quantised dynamically, with one scale for the whole
tensor. Weights of more than `rows` rows stay floats: the activations of a wide inner layer have
outliers, for which one scale is too coarse.

A table of which rows are looked up, dequantised as a whole when the model is loaded,

    Cast(table int8) → Mul(scale of each row) → Gather(·, numbers)

becomes Mul(Cast(Gather(table, numbers)), Gather(scale, numbers)): the same numbers, but only those
that are looked up (loading takes half the time, and the process 35 MB less).

A pure function of the file's bytes. It parses protobuf's wire format directly, of which it needs
two wire types, so that the package `onnx` and its dependencies need not be installed. A graph
without any such chain is refused.

    message     fields used here
    Model       7 graph · 8 opset {1 domain, 2 version}
    Graph       1 node · 5 initializer
    Node        1 input · 2 output · 3 name · 4 operator · 7 domain
    Tensor      1 dims · 8 name
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_VARINT, _BYTES = 0, 2
_RUNTIME_DOMAIN = b"com.microsoft"

Wire = bytes | memoryview  # a message, or a part of one that is not copied
WireField = tuple[int, int, Wire]  # number, wire type, value without its length


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One node of the graph: all its fields, and the three that are used here."""

    fields: tuple[WireField, ...]
    operator: bytes
    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]


def quantised(model: bytes, rows: int) -> bytes:
    """The same model with weights of at most `rows` rows multiplied as integers."""
    pieces: list[Wire] = []  # joined once: the weights are most of it
    for number, wire_type, value in _decode_fields(memoryview(model)):
        part = _encode_pieces(_graph(value, rows)) if number == 7 else [value]
        pieces += [_encode_head(number, wire_type, sum(map(len, part))), *part]
    version = _encode_fields([(1, _BYTES, _RUNTIME_DOMAIN), (2, _VARINT, b"\x01")])
    return b"".join([*pieces, *_encode_pieces([(8, _BYTES, version)])])


def _graph(graph: Wire, rows: int) -> list[WireField]:
    parts = list(_decode_fields(graph))
    names = [_name(value) if number == 5 else b"" for number, _, value in parts]
    tensors = {name: _dims(part[2]) for name, part in zip(names, parts, strict=True) if name}
    nodes = [_node(value) for number, _, value in parts if number == 1]
    rewritten, scales = _rewritten(_looked_up(nodes, tensors), tensors, rows)
    if not scales:
        raise ValueError("the ONNX graph has no int8 weights to multiply")
    kept = [
        (number, wire_type, _flattened(value) if name in scales else value)
        for name, (number, wire_type, value) in zip(names, parts, strict=True)
        if number != 1
    ]
    return [*((1, _BYTES, _encode_fields(node.fields)) for node in rewritten), *kept]


def _looked_up(nodes: Sequence[OnnxNode], tensors: Mapping[bytes, list[int]]) -> list[OnnxNode]:
    """The nodes with tables dequantised after rows of them were looked up."""
    producers = {output: node for node in nodes for output in node.outputs}
    uses = Counter(name for node in nodes for name in node.inputs)
    removed: set[bytes] = set()
    replacements: dict[bytes, list[OnnxNode]] = {}
    for node in nodes:
        scaled = producers.get(node.inputs[0]) if node.operator == b"Gather" else None
        cast = producers.get(scaled.inputs[0]) if scaled and scaled.operator == b"Mul" else None
        if scaled is None or cast is None or cast.operator != b"Cast":
            continue
        table, scale, (output,) = cast.inputs[0], scaled.inputs[1], node.outputs
        is_by_row = tensors.get(scale) == [tensors.get(table, [0])[0], 1]
        if not is_by_row or uses[scaled.outputs[0]] != 1 or uses[cast.outputs[0]] != 1:
            continue
        of_table, cast_rows, of_scale = (output + b"_rows", output + b"_cast", output + b"_scale")
        removed.update((scaled.outputs[0], cast.outputs[0]))
        replacements[output] = [
            _renamed(node, (table, node.inputs[1]), of_table),
            _renamed(cast, (of_table,), cast_rows),
            _renamed(node, (scale, node.inputs[1]), of_scale),
            _renamed(scaled, (cast_rows, of_scale), output),
        ]
    kept = [node for node in nodes if node.outputs[0] not in removed]
    return [each for node in kept for each in replacements.get(node.outputs[0], [node])]


def _renamed(node: OnnxNode, inputs: Sequence[bytes], output: bytes) -> OnnxNode:
    """The same operation on other names."""
    fields = (
        *((1, _BYTES, name) for name in inputs),
        (2, _BYTES, output),
        (3, _BYTES, b"redask_" + output),  # two nodes may not have one name
        *(each for each in node.fields if each[0] > 3),
    )
    return OnnxNode(fields, node.operator, tuple(inputs), (output,))


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


def _node(value: Wire) -> OnnxNode:
    fields = tuple(_decode_fields(value))
    named: dict[int, list[bytes]] = {1: [], 2: [], 4: []}
    for number, _, content in fields:
        if number in named:
            named[number].append(bytes(content))
    return OnnxNode(fields, named[4][0], tuple(named[1]), tuple(named[2]))


def _name(tensor: Wire) -> bytes:
    return next((bytes(value) for number, _, value in _decode_fields(tensor) if number == 8), b"")


def _flattened(tensor: Wire) -> bytes:
    """A tensor reshaped to one dimension."""
    flat: WireField = (1, _VARINT, _encode_varint(math.prod(_dims(tensor))))
    return _encode_fields([flat, *(each for each in _decode_fields(tensor) if each[0] != 1)])


def _dims(tensor: Wire) -> list[int]:
    """The dimensions of a tensor, encoded one by one or packed."""
    sizes: list[int] = []
    for number, wire_type, value in _decode_fields(tensor):
        if number == 1:
            sizes += (
                [_decode_varint(value, 0)[0]] if wire_type == _VARINT else _decode_packed(value)
            )
    return sizes


# --- protobuf's wire format --------------------------------------------------------------


def _decode_fields(message: Wire) -> Iterator[WireField]:
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
    return b"".join(_encode_pieces(fields))


def _encode_pieces(fields: Sequence[WireField]) -> list[Wire]:
    pieces: list[Wire] = []
    for number, wire_type, value in fields:
        pieces += [_encode_head(number, wire_type, len(value)), value]
    return pieces


def _encode_head(number: int, wire_type: int, length: int) -> bytes:
    key = _encode_varint(number << 3 | wire_type)
    return key + _encode_varint(length) if wire_type == _BYTES else key


def _decode_varint(message: Wire, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[position]
        position += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, position


def _decode_packed(value: Wire) -> list[int]:
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
