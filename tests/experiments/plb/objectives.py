"""The paper's objectives O1 to O3 and the target of transaction mode, from runs: what is shown, what is contradicted, by how much."""

import math
import statistics

SIGNIFICANT = 0.05
PARTS = ("dedicated_3_2", "dedicated_4_1")
TARGET_P95, TARGET_MEDIAN, TARGET_MEAN = -0.30, 0.15, 0.0  # of Premium, of Freemium, of all: against round robin


def beta_fraction(a, b, x):
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    result = d
    for m in range(1, 300):
        for numerator in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + numerator * d
            c = 1 + numerator / c
            d = 1 / (d if abs(d) > tiny else tiny)
            c = c if abs(c) > tiny else tiny
            result *= c * d
        if abs(c * d - 1) < 1e-13:
            break
    return result


def incomplete_beta(a, b, x):
    """Regularized."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * beta_fraction(a, b, x) / a
    return 1 - front * beta_fraction(b, a, 1 - x) / b


def welch(a, b):
    """p of Welch's test, two-sided; None without two values on either side."""
    if len(a) < 2 or len(b) < 2:
        return None
    of_a, of_b = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    difference = statistics.fmean(a) - statistics.fmean(b)
    if of_a + of_b == 0:
        return 1.0 if difference == 0 else 0.0
    freedom = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    t = difference / math.sqrt(of_a + of_b)
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def judged(name, found, promised=True):
    """A row: of (change, p) per configuration, where a change below 0 is what the objective promises, if it promises anything."""
    if not found:
        return [name, 0, "-", "-", "-", "no runs"]
    changes = [change for change, _ in found]
    shown = sum(change < 0 and p is not None and p < SIGNIFICANT for change, p in found)
    against = sum(change > 0 and p is not None and p < SIGNIFICANT for change, p in found)
    verdict = "contradicted" if against else "shown" if shown else "not shown"
    spread = f"{100 * min(changes):+.0f}% to {100 * max(changes):+.0f}%"
    return [name, len(found), spread, shown, against, verdict if promised else "a price"]


def compared(ours, others, sign=1):
    """(relative change, p) of runs' values; with sign -1 more is better."""
    if not ours or not others or statistics.fmean(others) == 0:
        return None
    return sign * (statistics.fmean(ours) / statistics.fmean(others) - 1), welch(ours, others)


def objectives(runs, points):
    """Rows of a table. `points` are the (terminals, share) with contention."""

    def values(strategy, point, name, key):
        return runs.values(5, strategy, *point, name=name, key=key)

    def against_round_robin(name, key):
        return [compared(values("plb", p, name, key), values("round_robin", p, name, key)) for p in points]

    def against_worse_part(name, key, worst, sign):
        """The partition that is worse at that point is the one cut for another mix."""
        found = []
        for p in points:
            parts = [v for v in (values(part, p, name, key) for part in PARTS) if v]
            found.append(compared(values("plb", p, name, key), worst(parts, key=statistics.fmean), sign) if len(parts) == len(PARTS) else None)
        return found

    rows = (
        ("O1: Premium median against round robin", against_round_robin("premium", "median")),
        ("O1: Premium p95 against round robin", against_round_robin("premium", "p95")),
        ("O2: u against the worse of 3+2 and 4+1, the sign turned", against_worse_part("freemium", "utilization", min, -1)),
        ("O3: Freemium median against the worse of 3+2 and 4+1", against_worse_part("freemium", "median", max, 1)),
        ("O3: its price, Freemium median against round robin", against_round_robin("freemium", "median")),
    )
    return [judged(name, [f for f in found if f is not None], "price" not in name) for name, found in rows]


def target(runs, strategy, point):
    """(Premium p95, Freemium median, mean of all) as changes against round robin, and which of them miss; None without runs."""
    where, base = (5, strategy, *point), (5, "round_robin", *point)
    if not runs.count(*where) or not runs.count(*base):
        return None
    changes = (
        runs.value(*where, name="premium", key="p95") / runs.value(*base, name="premium", key="p95") - 1,
        runs.value(*where, name="freemium", key="median") / runs.value(*base, name="freemium", key="median") - 1,
        runs.overall(*where) / runs.overall(*base) - 1,
    )
    names = ("Premium p95", "Freemium median", "mean")
    missed = []
    for name, change, limit in zip(names, changes, (TARGET_P95, TARGET_MEDIAN, TARGET_MEAN)):
        if not change <= limit:
            missed.append(f"{name} by {100 * (change - limit):.0f} points")
    return changes, missed
