"""Writes the gRPC message AskRequest from the clauses, and the gRPC code: `make proto`.

The rest of redask.proto is written by hand. A test keeps the files current.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from grpc_tools import protoc

from redask.core.clauses import OPTIONS, Clause

SRC = Path(__file__).parent.parent / "src"
PROTO = Path("redask", "server", "grpc", "generated", "redask.proto")
_MESSAGE = re.compile(r"^message AskRequest \{\n.*?^\}\n", re.MULTILINE | re.DOTALL)


def proto(rows: Iterable[Clause] = OPTIONS) -> str:
    """The text of redask.proto, with the message that these clauses make."""
    written = (SRC / PROTO).read_text(encoding="utf-8")
    text, found = _MESSAGE.subn(lambda _: message(rows), written)
    if found != 1:
        raise SystemExit(f"{PROTO} has {found} messages AskRequest, not one")
    return text


def message(rows: Iterable[Clause]) -> str:
    """The message of a question with its clauses, in the order of the tags."""
    given = (field for row in rows for field in (row.grpc, row.grpc_word) if field)
    fields = sorted(given, key=lambda field: field.tag)
    lines = ["string question = 1;"]
    for field in fields:
        kind = field.type if field.type.startswith("repeated ") else f"optional {field.type}"
        lines.append(f"{kind} {field.name} = {field.tag};")
    return "message AskRequest {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def generate(root: Path) -> None:
    """Write redask.proto below a folder, and the code that protoc makes of it beside it."""
    file = root / PROTO
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(proto(), encoding="utf-8")
    outputs = [f"--{kind}={root}" for kind in ("python_out", "grpc_python_out", "pyi_out")]
    if protoc.main(["protoc", f"-I{root}", *outputs, str(file)]):
        raise SystemExit("protoc failed")


if __name__ == "__main__":
    generate(SRC)
