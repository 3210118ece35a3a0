"""How long work of each size takes on an idle replica under its quota."""

import json
import math
import random
import statistics
import time
from bisect import bisect_left

PAUSE = 0.05  # seconds that a replica is left alone before each time: five periods, so that its quota is full
PERIOD = 0.01  # of the quota: times begin anywhere in it
LONG = 30  # units: from there on the quota holds the work up, and times differ little
TIMES, TIMES_LONG = 9, 2  # of each size on each replica
ROW = 100  # statements one behind the other
UNEVEN_MAX = 0.1  # of replicas among each other
DRIFT_MAX = 0.1  # between the runs of one folder


class Refused(Exception):
    """Why nothing can be measured with these times."""


class Idle:
    """Seconds of a size on an idle replica: as measured, and between two sizes in proportion, both logarithmic."""

    def __init__(self, sizes, seconds):
        if list(sizes) != sorted(set(sizes)) or len(sizes) != len(seconds) or min(*sizes, *seconds) <= 0:
            raise ValueError("sizes in rising order, with a time each")
        self.sizes, self.seconds = list(sizes), list(seconds)

    def __call__(self, size):
        if not self.sizes[0] <= size <= self.sizes[-1]:
            raise ValueError(f"size {size} was not calibrated, only {self.sizes[0]} to {self.sizes[-1]}")
        i = bisect_left(self.sizes, size)
        if self.sizes[i] == size:
            return self.seconds[i]
        share = math.log(size / self.sizes[i - 1]) / math.log(self.sizes[i] / self.sizes[i - 1])
        return self.seconds[i - 1] * (self.seconds[i] / self.seconds[i - 1]) ** share


def times_of(size):
    return TIMES_LONG if size >= LONG else TIMES


def measure_idle(replicas, sizes, measure):
    """[{size: [seconds]}] of each replica. measure(replica, size) does the work and says how long it took. Replicas take turns: whatever
    else the machine does meanwhile meets them all."""
    rng = random.Random(1)
    found = [{size: [] for size in sizes} for _ in replicas]
    free = [0.0] * len(replicas)
    for turn in range(TIMES):
        for size in (size for size in sizes if turn < times_of(size)):
            for i, replica in enumerate(replicas):
                time.sleep(max(0.0, free[i] - time.monotonic()) + rng.uniform(0, PERIOD))
                found[i][size].append(measure(replica, size))
                free[i] = time.monotonic() + PAUSE
    return found


def middle_mean(values):
    """Without the greatest and the least eighth: a mean, as small work takes the one or the other time by where in a period it
    begins, but not of the moments at which the machine did something else."""
    cut = len(values) // 8
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def sustained(found):
    """Seconds per unit of work that the quota holds up."""
    long = {size: statistics.fmean(values) for size, values in found.items() if size >= LONG}
    return sum(long.values()) / sum(long)


def measure_row(replicas, size, measure):
    """Seconds for each of many statements of the smallest size, one behind the other: what the quota allows of them."""
    return statistics.median(statistics.fmean(measure(replica, size) for _ in range(ROW)) for replica in replicas)


def calibrated(names, found, row):
    """{"unit", "overhead", "sizes", "idle"} of what measure_idle() and measure_row() found; Refused where replicas are not alike.
    The quota allows of a size in the long run: one in overhead + unit * size seconds."""
    units = [sustained(one) for one in found]
    if max(units) / min(units) - 1 > UNEVEN_MAX:
        each = ", ".join(f"{name} {unit * 1e3:.3f} ms" for name, unit in zip(names, units))
        raise Refused(f"a unit of work takes more than {UNEVEN_MAX:.0%} longer on one replica than on another ({each}); "
                      "something else uses the machine: wait for a quiet moment")
    sizes, unit = sorted(found[0]), statistics.fmean(units)
    idle = [middle_mean([value for one in found for value in one[size]]) for size in sizes]
    return {"unit": unit, "overhead": max(0.0, row - unit * sizes[0]), "sizes": sizes, "idle": idle}


def keep_calibration(path, found, load, replicas, mean_size):
    """Of the first time: what is added to a folder has to meet the same arrivals. `load` is of what the quotas allow."""
    if not path.exists():
        path.write_text(json.dumps({**found, "rate": load * replicas / (found["overhead"] + mean_size * found["unit"])}) + "\n")
    kept = json.loads(path.read_text())
    if abs(found["unit"] / kept["unit"] - 1) > DRIFT_MAX:
        raise Refused(f"a unit of work takes {found['unit'] * 1e3:.3f} ms now, and took {kept['unit'] * 1e3:.3f} ms in the runs of {path.parent}; "
                      "take another --output, or a quiet moment")
    return kept
