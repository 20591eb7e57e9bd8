"""`make test-dbt`: dbt, in an environment of its own (`.dbt`), over the tables of `shop_world`.

It connects, shows the rows of a model and of a statement, runs tests of data that read, and
describes the tables for its documentation; building a model, which writes, must fail with
PostgreSQL's words. The first run installs dbt by pip. Anything else ends with 1.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "support"))

from pgwire_server import PgwireServer  # noqa: E402
from shop_world import BY_MONTH, MONTHS, fill_shop  # noqa: E402

PACKAGES = ("dbt-core==1.9.11", "dbt-postgres==1.9.1", "dbt-adapters==1.24.5", "dbt-common==1.39.0")
PLACE = ROOT / ".dbt"
FILES = {
    "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nmodel-paths: [models]\n",
    "models/months.sql": BY_MONTH.replace("FROM orders", "FROM {{ source('shop', 'orders') }}"),
    "models/sources.yml": """
version: 2
sources:
  - name: shop
    schema: public
    tables:
      - name: orders
        columns:
          - name: id
            tests: [unique, not_null]
          - name: customer_id
            tests:
              - relationships: {to: "source('shop', 'customers')", field: id}
      - name: customers
""",
}


def installed() -> Path:
    """dbt's program."""
    program = PLACE / "bin" / "dbt"
    if not program.exists():
        venv.create(PLACE, with_pip=True)
        command = [str(PLACE / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES]
        subprocess.run(command, check=True)
    return program


def make_project(directory: Path, server: PgwireServer) -> None:
    """The project, and the profile that says where redask is."""
    host, _, port = server.address.removeprefix("postgresql://").partition(":")
    profile = {"type": "postgres", "host": host, "port": int(port), "user": "mia", "threads": 1}
    profile |= {"password": server.tokens["mia"], "dbname": "local", "schema": "public"}
    whole = {"shop": {"target": "dev", "outputs": {"dev": profile}}}
    for name, text in {**FILES, "profiles.yml": json.dumps(whole)}.items():
        file = directory / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)


def ran(directory: Path, *words: str) -> tuple[int, str]:
    """What a command of dbt printed, and how it ended."""
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "False", "NO_COLOR": "1"}
    command = [str(installed()), "--no-use-colors", *words, "--project-dir", ".", "--profiles-dir"]
    done = subprocess.run(
        [*command, "."],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def faults(directory: Path) -> list[str]:
    """What is not as it should be."""
    months = [text for pair in MONTHS for text in pair]
    wanted = [
        (("debug",), 0, ["Connection test: [OK connection ok]"]),
        (("show", "--inline", BY_MONTH), 0, months),
        (("show", "--select", "months"), 0, months),
        (("test", "--select", "source:shop"), 0, ["PASS=3", "ERROR=0"]),
        (("docs", "generate", "--no-compile"), 0, ["Catalog written"]),
        (("run",), 1, ["in a read-only transaction"]),
    ]
    found = []
    for words, code, texts in wanted:
        ended, printed = ran(directory, *words)
        missing = [text for text in texts if text not in printed]
        good = ended == code and not missing
        sys.stdout.write(f"dbt {' '.join(words)[:60]}: {'as expected' if good else 'NOT'}\n")
        if not good:
            found.append(f"dbt {words}: ended with {ended}, lacks {missing}\n{printed[-3000:]}")
    catalog = json.loads((directory / "target" / "catalog.json").read_text())
    orders = catalog["sources"].get("source.shop.shop.orders", {}).get("columns", {})
    types = {name: each["type"] for name, each in orders.items()}
    expected = {"id": "integer", "placed": "date", "total": "numeric(18,2)"}
    if not expected.items() <= types.items():
        found.append(f"the catalogue of orders is {types}")
    return found


def main() -> None:
    """Run it all."""
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        with PgwireServer(directory / "db") as server:
            fill_shop(server, directory)
            project = directory / "project"
            project.mkdir()
            make_project(project, server)
            found = faults(project)
    sys.stdout.write("\n".join(found) + "\n" if found else "dbt reads\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
