"""A process with a worker in the middle of its work; prints the worker's process id."""

import sys
import threading

from waiting import until

from redask.engine.processes.worker_processes import WorkerProcesses


def main(directory: str, method: str) -> None:
    from pathlib import Path

    pool = WorkerProcesses("worker_services:make", (directory,), size=1)
    print(pool.call("process", timeout_seconds=60), flush=True)
    threading.Thread(target=lambda: pool.call(method, timeout_seconds=600), daemon=True).start()
    assert until((Path(directory) / "started").exists)
    print("started", flush=True)
    sys.stdin.read()  # a test ends this process, or closes its input
    if method == "wait":
        pool.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
