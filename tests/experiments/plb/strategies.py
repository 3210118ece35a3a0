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


STAGES = ("session", "six", "transaction")
# Sessions that begin per run: without contention, with as much as the paper's T = 1000 has (u of PLB at 0.80 to 0.84), and with much.
LOADS = {"session": (60, 300, 380), "six": (380,), "transaction": (60, 240, 380)}
QUICK_LOADS = (60, 300)


def points(stage, loads, shares, edge_shares):
    """(load, share, strategies) of a stage. `loads` ascend; what the paper says of shares at the edge it says of the middle one."""
    if stage == "session":
        return [(t, p, SESSION) for t in loads for p in shares] + [(loads[len(loads) // 2], p, PAPER) for p in edge_shares]
    if stage == "six":
        return [(loads[-1], p, SIX) for p in shares]
    return [(t, p, TRANSACTION) for t in loads for p in shares]


def cells(loads, shares, edge_shares, repetitions, seed, stages=STAGES):
    """All runs, at each stage's own loads if `loads` is None: stage by stage, and in each repetition by repetition, so that whatever is done when it is stopped is whole repetitions and a
    part of one. Within a repetition the configurations are in random order, and at each the strategies, one behind the other, in random
    order: those that are compared are close in time, and what changes slowly about a machine falls on all alike."""
    for stage in stages:
        rng = random.Random(f"{seed} {stage}")  # of its own: which other stages there are changes nothing
        for repetition in range(1, repetitions + 1):
            all_points = points(stage, loads or LOADS[stage], shares, edge_shares)
            rng.shuffle(all_points)
            for terminals, share, strategies in all_points:
                for strategy in rng.sample(sorted(strategies), len(strategies)):
                    yield Cell(stage, strategy, 6 if stage == "six" else 5, terminals, share, repetition)
