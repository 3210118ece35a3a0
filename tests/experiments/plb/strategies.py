"""What the experiment compares: router configurations by name, and the grids of runs."""

import random
from dataclasses import dataclass
from pathlib import Path

SATURATION = 10
PREMIUM, FREEMIUM = "premium", "freemium"


def classes(premium, freemium, premium_weight=1, saturation=SATURATION):
    return [
        {"name": PREMIUM, "saturation": saturation, "return_ratio": "0.60", "floor": 0, "target": premium,
         "weight": premium_weight, "may_request": ["*"]},
        {"name": FREEMIUM, "saturation": saturation, "return_ratio": "0.80", "floor": 1, "target": freemium, "may_request": ["*"]},
    ]


# In session mode, the paper's: a session stays where it began.
SESSION = {
    "plb": {"policy": "plb", "classes": classes(2, 2)},
    "round_robin": {"policy": "round_robin"},
    "dedicated_3_2": {"policy": "dedicated", "classes": classes(3, 2)},
    "dedicated_4_1": {"policy": "dedicated", "classes": classes(4, 1)},
    "least_loaded": {"policy": "least_loaded"},
    "proportional": {"policy": "proportional", "classes": classes(2, 2, premium_weight=2)},
}
PAPER = ("plb", "round_robin", "dedicated_3_2", "dedicated_4_1")  # what the paper compares
SIX = {
    "plb": SESSION["plb"],
    "round_robin": SESSION["round_robin"],
    "dedicated_4_2": {"policy": "dedicated", "classes": classes(4, 2)},
}
# In transaction mode: each query is placed by itself. The first is the baseline, without limit or queue.
SLOTS = 2  # queries in progress on a replica
AGEING = 3  # seconds after which a query is next, whatever its class
TRANSACTION = {
    "round_robin": {"policy": "round_robin"},
    "class_queue": {"policy": "least_loaded", "max_active": SLOTS, "queue_ageing": AGEING},
    # Within a class, the query goes first that is expected to take least, by what its like took before.
    "class_shortest": {"policy": "least_loaded", "max_active": SLOTS, "queue_ageing": AGEING, "queue_discipline": "shortest_first"},
    # Freemium may have half of the slots, and what is free beyond it, but not wait for more: it is refused at once.
    "budgets": {
        "policy": "least_loaded", "max_active": SLOTS, "queue_ageing": AGEING,
        "budgets": [{"name": FREEMIUM, "class": FREEMIUM, "active_share": "0.5", "mode": "enforce"}],
    },
    "plb": {"policy": "plb", "classes": classes(2, 2, saturation=SLOTS), "max_active": SLOTS, "queue_ageing": AGEING},
}


def configurations():
    return {"session": SESSION, "six": SIX, "transaction": TRANSACTION}


@dataclass(frozen=True)
class Cell:
    """One run: which configuration, on how many replicas, under which load. `grid` is the part of the experiment."""

    grid: str
    strategy: str
    budget: int
    terminals: int
    share: float
    repetition: int

    @property
    def mode(self):
        """The router's. Runs of one mode are in one folder of results."""
        return "transaction" if self.grid == "transaction" else "session"

    def folder(self):
        return Path(self.mode, "runs", f"{self.strategy}-{self.budget}-{self.terminals}-{self.share:g}-{self.repetition}")

    def config(self):
        return configurations()[self.grid][self.strategy]


def cells(loads, shares, edge_shares, repetitions, seed, grids=("session", "six", "transaction")):
    """All runs: repetition by repetition, so that whatever is done when it is stopped is a whole grid, and within one in random order,
    the sessions' grid first. `loads` ascend, as a rule three: without contention, with, and with much; what the paper says of shares at
    the edge it says of the middle one."""
    rng = random.Random(seed)
    for repetition in range(1, repetitions + 1):
        for grid in grids:
            if grid == "session":
                points = [(s, t, p) for s in SESSION for t in loads for p in shares]
                points += [(s, loads[len(loads) // 2], p) for s in PAPER for p in edge_shares]
            elif grid == "six":
                points = [(s, loads[-1], p) for s in SIX for p in shares]
            else:
                points = [(s, t, p) for s in TRANSACTION for t in loads for p in shares]
            rng.shuffle(points)
            for strategy, terminals, share in points:
                yield Cell(grid, strategy, 6 if grid == "six" else 5, terminals, share, repetition)
