"""The paper's objectives O1 to O3 and the target of transaction mode, from runs: what is shown, what is contradicted, by how much."""

import math
import statistics
from dataclasses import dataclass

SIGNIFICANT = 0.05
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


def paired(a, b):
    """p of Student's t on the logarithms of the ratios of a's values to b's, pair by pair, two-sided; None without two pairs, or with a 0. It
    leaves out what both sides of a pair have in common, as the sessions of a repetition, which Welch's test counts as noise."""
    if len(a) != len(b) or len(a) < 2 or min(*a, *b) <= 0:
        return None
    ratios = [math.log(x / y) for x, y in zip(a, b)]
    mean, variance = statistics.fmean(ratios), statistics.variance(ratios)
    if variance == 0:
        return 1.0 if mean == 0 else 0.0
    freedom = len(ratios) - 1
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + mean * mean * len(ratios) / variance))


def holm(all_p):
    """Corrected for how many there are, in their order; None stays None."""
    order = sorted((p, n) for n, p in enumerate(all_p) if p is not None)
    corrected, least = [None] * len(all_p), 0.0
    for rank, (p, n) in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p))
        corrected[n] = least
    return corrected


def bound_mark(at_least, at_most):
    """In front of a change: of a value that is a lower bound itself, against one that is."""
    return {(False, False): "", (True, False): ">= ", (False, True): "<= ", (True, True): "? "}[bool(at_least), bool(at_most)]


@dataclass(frozen=True)
class Change:
    """A value relative to another strategy's in one configuration; below 0 is what is hoped for. at_least: ours is a lower bound, so the true
    change may be above it; at_most: the other's is, and it may be below."""

    change: float
    p: float | None = None  # Welch's
    p_paired: float | None = None
    at_least: bool = False
    at_most: bool = False
    point: tuple = ()  # (terminals, share)
    other: str = ""

    def text(self):
        return f"{bound_mark(self.at_least, self.at_most)}{100 * self.change:+.0f}%"


def p_text(p):
    return "-" if p is None else "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def significant(p):
    return p is not None and p < SIGNIFICANT


def judged(name, found, promised=True):
    """A row: of changes, where one below 0 is what the objective promises, if it promises anything. As promised it counts after Holm's
    correction alone, the other way before it; and never where the true change may be on the other side. The verdict is by Welch's test, as in
    the paper; what the paired one says is counted beside it."""
    if not found:
        return [name, 0, *["-"] * 7, "no runs"]

    def promised_by(all_p):
        return sum(f.change < 0 and significant(p) and not f.at_least for f, p in zip(found, all_p))

    def against_by(all_p):
        return sum(f.change > 0 and significant(p) and not f.at_most for f, p in zip(found, all_p))

    welchs, paireds = [f.p for f in found], [f.p_paired for f in found]
    before, shown, against = promised_by(welchs), promised_by(holm(welchs)), against_by(welchs)
    shown_paired, against_paired = promised_by(holm(paireds)), against_by(paireds)
    bounds = sum(f.at_least or f.at_most for f in found)
    verdict = "contradicted" if against else "shown" if shown else "not shown"
    least, most = (pick(found, key=lambda f: f.change) for pick in (min, max))
    return [name, len(found), f"{least.text()} to {most.text()}", before, shown, shown_paired, against, against_paired, bounds,
            verdict if promised else "a price"]


def compared(runs, other, point, name, key, sign=1):
    """The change of PLB's value against the other's; with sign -1 more is better. None without runs of both."""
    ours, others = (runs.values(5, strategy, *point, name=name, key=key) for strategy in ("plb", other))
    if not ours or not others or statistics.fmean(others) == 0:
        return None
    pairs = runs.pairs(5, ("plb", other), *point, name=name, key=key)
    at_least, at_most = (runs.bound(5, strategy, *point, name=name, key=key) for strategy in ("plb", other))
    change = sign * (statistics.fmean(ours) / statistics.fmean(others) - 1)
    return Change(change, welch(ours, others), paired(*pairs), at_least, at_most, point, other)


def other_mix(point):
    """The partition cut for another mix, named before anything is measured, as one that is picked by the values that are then tested is worse
    by chance too. Up to a share of 0.6 that is 4+1, which gives Freemium a fifth of the replicas for most of the sessions or half of them;
    above it is 3+2, which gives Premium three fifths for 0.7 and more. The paper's own figures are of these: 4+1 at 0.1, 3+2 at 0.9."""
    return "dedicated_4_1" if point[1] <= 0.6 else "dedicated_3_2"


def least_for_freemium(_):
    """The partition that is the worse one for Freemium, whatever the mix: 4+1 leaves it one replica where 3+2 leaves it two."""
    return "dedicated_4_1"


def round_robin(_):
    return "round_robin"


OBJECTIVES = (  # name, against what at a point, class, value, sign
    ("O1: Premium median against round robin", round_robin, "premium", "median", 1),
    ("O1: Premium p95 against round robin", round_robin, "premium", "p95", 1),
    ("O2: u against the partition cut for another mix, the sign turned", other_mix, "freemium", "utilization", -1),
    ("O3: Freemium median against 4+1, the worse partition for it", least_for_freemium, "freemium", "median", 1),
    ("O3: its price, Freemium median against round robin", round_robin, "freemium", "median", 1),
)


def changes_of(runs, points):
    """(name, changes) of each objective. `points` are the (terminals, share) with contention."""
    for title, other, name, key, sign in OBJECTIVES:
        found = (compared(runs, other(p), p, name, key, sign) for p in points)
        yield title, [f for f in found if f is not None]


def objectives(runs, points):
    """Rows of a table."""
    return [judged(title, found, "price" not in title) for title, found in changes_of(runs, points)]


def each_configuration(runs, points):
    """Rows of another: the changes themselves; p, and corrected by Holm's method within the objective, by Welch's test and by the paired one."""
    rows = []
    for title, found in changes_of(runs, points):
        for f, corrected, pair in zip(found, holm([f.p for f in found]), holm([f.p_paired for f in found])):
            rows.append([title.split(",")[0], f.point[0], f"{f.point[1]:g}", f.other, f.text(), p_text(f.p), p_text(corrected), p_text(f.p_paired),
                         p_text(pair)])
    return rows


def target(runs, strategy, point):
    """The changes of (Premium p95, Freemium median, mean of all) against round robin, and words on which of them miss, or may, since they are
    lower bounds; None without runs."""
    where, base = (5, strategy, *point), (5, "round_robin", *point)
    if not runs.count(*where) or not runs.count(*base):
        return None
    changes = [Change(runs.value(*where, name=name, key=key) / runs.value(*base, name=name, key=key) - 1,
                      at_least=runs.bound(*where, name=name, key=key), at_most=runs.bound(*base, name=name, key=key))
               for name, key in (("premium", "p95"), ("freemium", "median"))]
    changes.append(Change(runs.overall(*where) / runs.overall(*base) - 1, at_least=runs.overall_bound(*where), at_most=runs.overall_bound(*base)))
    missed = []
    for name, change, limit in zip(("Premium p95", "Freemium median", "mean"), changes, (TARGET_P95, TARGET_MEDIAN, TARGET_MEAN)):
        if not change.change <= limit:
            missed.append(f"{name} by {100 * (change.change - limit):.0f} points" + (", or not: round robin's is a lower bound" if change.at_most else ""))
        elif change.at_least:
            missed.append(f"{name} perhaps: it is a lower bound")
    return changes, missed
