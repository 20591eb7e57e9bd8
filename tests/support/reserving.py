"""A process that reserves and settles money until it is killed: `reserving.py DIRECTORY SEED CAP`.

Before each step it prints what it tries, after it what was acknowledged:

    try reserve 700 · reserved 12 700 · refused 700 · try settle 12 300 · settled 12
"""

import random
import sys
from pathlib import Path

from redask.core.model import Usage
from redask.core.ports import Account
from redask.core.rules import cost
from redask.core.rules.cost import Allow, Limits, Reject, Spent
from redask.stores.relational.ledger import RelationalLedger
from redask.stores.sqlite.sqlite_backend import open_calls

DAY = 20_000


def reserve(ledger: RelationalLedger, nanos: int, cap: int) -> int | Reject:
    """Set an amount aside under a cap, by the rule of the contract."""

    def check(spent: Spent) -> Allow | Reject:
        usage = Usage(cost_usd=cost.dollars(nanos))
        limits = Limits(daily_cost_cap_usd=cost.dollars(cap))
        return cost.check(usage, spent, limits, DAY * 86_400 * 10**9)

    return ledger.reserve(Account("t", DAY, "openai"), nanos, check)


def main(directory: str, seed: int, cap: int) -> None:
    rng = random.Random(seed)
    ledger = RelationalLedger(open_calls(Path(directory), busy_timeout=30))
    held: list[tuple[int, int]] = []
    while True:
        if held and rng.random() < 0.5:
            number, most = held.pop(rng.randrange(len(held)))
            used = rng.choice((0, most, rng.randint(0, most)))
            print("try settle", number, used, flush=True)
            ledger.settle(number, used)
            print("settled", number, flush=True)
            if rng.random() < 0.1:
                ledger.settle(number, used)  # a second time changes nothing
            continue
        amount = rng.randint(1, 1000)
        print("try reserve", amount, flush=True)
        verdict = reserve(ledger, amount, cap)
        if isinstance(verdict, Reject):
            print("refused", amount, flush=True)
            if not held:
                cap += 5000  # else there would be nothing left to kill
        else:
            print("reserved", verdict, amount, flush=True)
            held.append((verdict, amount))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
