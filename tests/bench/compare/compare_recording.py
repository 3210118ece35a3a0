#!/usr/bin/python3
"""Runs Sluice with and without record_trace under the same loads, in transaction mode, and writes docs/bench/recording.md: what it
costs to record every admission and query. Asserts nothing."""

import pairs  # noqa: I001 - it finds the harness
import contenders

SELECT = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"

LOADS = {
    "simple": pairs.Load("one query, simple protocol"),
    "prepared": pairs.Load("one query, prepared", "prepared"),
    "five": pairs.Load(
        "transactions of five queries",
        script="\\set aid random(1, 100000 * :scale)\nBEGIN;\n" + SELECT * 5 + "COMMIT;\n",
    ),
}
ABOUT = (
    "The router's CPU time per transaction in transaction mode, all its threads (that of the control thread, which compresses and writes, among "
    "them), with `record_trace` and without, under the same load: pgbench, SELECTs by primary key. The promise is 2%."
)


class Recording(contenders.SluiceTransactions):
    name, title = "recording", "record_trace"

    def start(self, bench):
        folder = bench.directory / "trace"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o777)  # whoever the router runs as
        self.options = {"record_trace": str(folder / "trace")}
        super().start(bench)


class Silent(contenders.SluiceTransactions):
    name, title = "silent", "without"


def has_recorded(bench):
    assert sum(file.stat().st_size for file in (bench.directory / "trace").iterdir()) > 0, "nothing was recorded"


if __name__ == "__main__":
    pairs.run(__doc__, "What recording costs", ABOUT, "docs/bench/recording.md", 2, LOADS, [Recording(), Silent()], has_recorded)
