"""A statement as a tree, and what makes it grow: `drawn`, `mutated`, `crossed`, `written`.

A node is a template, its children in the order of their holes, and a count for each hole that is
repeated. Everything comes from the random generator that is given, so that a run is repeatable.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from slow_statements.templates import LEAVES, TEMPLATES

MAX_BYTES = 60_000
MAX_COUNT = 10**9
MAX_NODES = 400
_HOLE = re.compile(r"\{(nest|chain):([^{}]*)\}|\{([a-z_]+)\}")
_SMALL = 250  # repetitions in a regular expression


@dataclass(frozen=True, slots=True)
class Node:
    """One template with what is in its holes."""

    kind: str
    template: str
    children: tuple["Node", ...] = ()
    counts: tuple[int, ...] = field(default=())

    def nodes(self) -> Iterator["Node"]:
        yield self
        for child in self.children:
            yield from child.nodes()


def drawn(rng: random.Random, kind: str = "query", depth: int = 4) -> Node:
    """A small random tree."""
    templates = TEMPLATES[kind] if depth > 0 else LEAVES.get(kind, TEMPLATES[kind])
    template = rng.choice(templates) if templates else ""
    children, counts = [], []
    for hole in _HOLE.finditer(template):
        wanted = _wanted(hole)
        if wanted in ("count", "small"):
            counts.append(_count(rng, wanted))
        elif wanted != "unique":
            if hole[1]:
                counts.append(rng.choice((1, 2, 3, 10)))
            children.append(drawn(rng, wanted, depth - 1))
    return Node(kind, template, tuple(children), tuple(counts))


def _wanted(hole: "re.Match[str]") -> str:
    """The kind that a hole wants."""
    if not hole[1]:
        return hole[3]
    parts = hole[2].replace("\\|", "\0").split("|")
    return parts[1]


def _count(rng: random.Random, wanted: str) -> int:
    if wanted == "small":
        return rng.choice((1, 2, 5, 20, 100))
    return rng.choice((1, 2, 10, 100, 1000, 30_000, 10**6))


def mutated(rng: random.Random, tree: Node) -> Node:
    """The tree with one thing changed, mostly towards more."""
    many = list(tree.nodes())
    chosen = rng.randrange(len(many))
    kind = rng.random()
    if kind < 0.45:
        counted = [at for at, node in enumerate(many) if node.counts]
        if counted:
            return _changed(tree, rng.choice(counted), lambda node: _grown(rng, node))
    if kind < 0.65:  # around what is there
        return _changed(tree, chosen, lambda node: _wrapped(rng, node))
    if kind < 0.75:  # doubled: the same in each hole of its kind
        return _changed(tree, chosen, lambda node: _repeated(rng, node))
    if kind < 0.85:  # smaller
        return _changed(tree, chosen, lambda node: drawn(rng, node.kind, 0))
    return _changed(tree, chosen, lambda node: drawn(rng, node.kind, rng.randrange(3)))


def crossed(rng: random.Random, tree: Node, other: Node) -> Node:
    """The tree with a part of another one."""
    parts: dict[str, list[Node]] = {}
    for node in other.nodes():
        parts.setdefault(node.kind, []).append(node)
    places = [at for at, node in enumerate(tree.nodes()) if node.kind in parts]
    return _changed(tree, rng.choice(places), lambda node: rng.choice(parts[node.kind]))


def _grown(rng: random.Random, node: Node) -> Node:
    at = rng.randrange(len(node.counts))
    factor = rng.choice((0.5, 2, 2, 3, 10, 100))
    counts = list(node.counts)
    counts[at] = max(1, min(MAX_COUNT, int(counts[at] * factor) + rng.choice((0, 0, 1))))
    return replace(node, counts=tuple(counts))


def _wrapped(rng: random.Random, node: Node) -> Node:
    around = drawn(rng, node.kind, 1)
    places = [at for at, child in enumerate(around.children) if child.kind == node.kind]
    if not places:
        return around
    at = rng.choice(places)
    children = [*around.children[:at], node, *around.children[at + 1 :]]
    return replace(around, children=tuple(children))


def _repeated(rng: random.Random, node: Node) -> Node:
    if not node.children:
        return node
    model = rng.choice(node.children)
    children = tuple(model if child.kind == model.kind else child for child in node.children)
    return replace(node, children=children)


def _changed(tree: Node, at: int, change: Callable[[Node], Node]) -> Node:
    """The tree with the node at a place, counted as `nodes` counts, changed."""
    if at == 0:
        made = change(tree)
        return made if sum(1 for _ in made.nodes()) <= MAX_NODES else tree
    at -= 1
    for place, child in enumerate(tree.children):
        size = sum(1 for _ in child.nodes())
        if at < size:
            children = list(tree.children)
            children[place] = _changed(child, at, change)
            return replace(tree, children=tuple(children))
        at -= size
    return tree


def written(tree: Node) -> str:
    """The text; longer than MAX_BYTES it is cut, which is then a statement that does not parse."""
    return _Writer().text(tree, scoped=False)[:MAX_BYTES]


class _Writer:
    """Writes one tree; names are unique in it."""

    def __init__(self) -> None:
        self._unique = 0
        self._left = 4 * MAX_BYTES  # characters, before more is left out

    def text(self, node: Node, *, scoped: bool) -> str:
        scoped = scoped or "{source}" in node.template
        children, counts = iter(node.children), iter(node.counts)
        out, end = [], 0
        for hole in _HOLE.finditer(node.template):
            out.append(_plain(node.template[end : hole.start()], scoped))
            end = hole.end()
            wanted = _wanted(hole)
            if wanted == "unique":
                self._unique += 1
                out.append(str(self._unique))
            elif wanted == "count":
                out.append(str(next(counts)))
            elif wanted == "small":
                out.append(str(min(_SMALL, next(counts))))
            elif hole[1]:
                out.append(self._many(hole, next(children), next(counts), scoped))
            else:
                out.append(self.text(next(children), scoped=scoped))
        out.append(_plain(node.template[end:], scoped))
        made = "".join(out)
        self._left -= len(made)
        return made if self._left > 0 else "1"

    def _many(self, hole: "re.Match[str]", child: Node, count: int, scoped: bool) -> str:
        parts = [each.replace("\0", "|") for each in hole[2].replace("\\|", "\0").split("|")]
        first = self.text(child, scoped=scoped)
        if hole[1] == "nest":
            opening, _, closing = parts
            most = min(count, 4000, MAX_BYTES // max(1, len(opening) + len(closing)))
            return f"{opening * most}{first}{closing * most}"
        glue = parts[0]
        most = max(1, min(count, MAX_BYTES // max(1, len(first) + len(glue))))
        names = "{unique}" in child.template
        more = [self.text(child, scoped=scoped) if names else first for _ in range(most - 1)]
        return glue.join([first, *more])


def _plain(text: str, scoped: bool) -> str:
    """What stands between holes; without a source there are no columns."""
    text = text.replace("{{", "{").replace("}}", "}")
    return text if scoped else text.replace("x.i", "5").replace("x.s", "'ab'")
