"""The process of one attack: `python -m siege.attacker NAME ADDRESS SECONDS`.

It runs at the lowest priority, as clients are on other machines. It prints READY once it has made
the files it needs, then attacks for so long, and prints as JSON what came of what it sent and how
much memory the processes had that it started.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

from siege.attack import Address, Target
from siege.attacks import BY_NAME

READY = "ready"


def main(name: str, address: str, seconds: float) -> None:
    """Attack for so long."""
    os.nice(19)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    attack, at = BY_NAME[name], Address.of(address)
    if attack.prepare is not None:
        attack.prepare(Path(at.scratch))
    print(READY, flush=True)
    target = Target(at, time.monotonic() + seconds)
    attack.run(target)
    print(json.dumps({"outcomes": target.outcomes, "peak_bytes": target.peak_bytes}), flush=True)
    os._exit(0)  # whatever still waits for a reply


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
