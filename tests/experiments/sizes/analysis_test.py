#!/usr/bin/python3
"""The sums of the experiment on sizes, on runs whose answers are known."""

import heapq
import math
import random
import statistics
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import analysis  # noqa: E402

UNIT, SECONDS = 0.002, 80
SETTINGS = {
    "seconds": SECONDS, "rounds": 6, "load": 0.7, "replicas": 4, "quota": 0.3, "alpha": 1.1, "smallest": 1, "largest": 300, "kinds": 20,
    "unit": UNIT, "overhead": 0.001, "idle_ms": [1.1, 520], "rate": 100, "load_average": [0.5, 1.5], "processors": 2, "late": 0.012,
}  # fmt: skip


def idle(size):
    return UNIT * size


def run_with(slowdown, seed, noise=0.1):
    """Arrivals of two kinds, all of them slowed by about so much."""
    rng = random.Random(seed)
    samples = []
    for i in range(1600):
        kind, size = (0, 2.0) if i % 4 else (19, 100.0)
        factor = slowdown * (1 + rng.uniform(-noise, noise))
        samples.append((i * SECONDS / 1600, kind, size, size * UNIT * (1 + factor)))
    return analysis.Run(samples, SECONDS, idle)


def results(*of_main):
    return {analysis.BASE: [run_with(2, seed) for seed in range(len(of_main))], analysis.MAIN: [run_with(value, 90 + i) for i, value in enumerate(of_main)]}


class Analysis(unittest.TestCase):
    def test_a_run_counts_from_its_first_eighth_on(self):
        found = run_with(2, 1).summary()
        self.assertEqual(found["count"], 1400)
        self.assertAlmostEqual(found["mean_slowdown"], 2, delta=0.02)
        self.assertAlmostEqual(found["median_slowdown"], 2, delta=0.05)
        self.assertAlmostEqual(found["p95_slowdown"], 2.18, delta=0.02)
        self.assertAlmostEqual(found["large_slowdown"], 2, delta=0.05)
        self.assertAlmostEqual(found["mean_wait_seconds"], 2 * UNIT * (0.75 * 2 + 0.25 * 100), delta=0.005)

    def test_quicker_than_idle_makes_up_for_slower_than_idle(self):
        samples = [(10 + i, 0, 1.0, UNIT * (0.9 if i % 2 else 1.1)) for i in range(60)]
        self.assertAlmostEqual(analysis.Run(samples, SECONDS, idle).summary()["mean_slowdown"], 0, delta=1e-9)

    def test_idle_times_need_not_be_in_proportion(self):
        found = analysis.Run([(70, 0, 1.0, 3.0), (71, 1, 100.0, 60.0)], SECONDS, {1.0: 1.0, 100.0: 20.0}.get)
        self.assertEqual(found.all, [2, 2])
        self.assertEqual(found.waits, [2, 40])

    def test_a_ratio_has_the_truth_in_its_interval(self):
        middle, low, high = analysis.ratio(*results(*[1] * 6).values())
        self.assertLess(low, 0.5)
        self.assertGreater(high, 0.5)
        self.assertAlmostEqual(middle, 0.5, delta=0.01)
        self.assertLess(high - low, 0.02)

    def test_a_ratio_is_that_of_the_means_and_a_bad_round_counts_in_full(self):
        found = results(1, 1, 1, 1, 1, 1, 1, 20)
        middle, low, high = analysis.ratio(*found.values())
        means = [statistics.fmean(value for run in runs for value in run.all) for runs in found.values()]
        self.assertAlmostEqual(middle, means[1] / means[0], places=9)
        self.assertAlmostEqual(middle, 27 / 16, delta=0.02)
        self.assertLess(low, 1)
        self.assertGreater(high, 1)

    def test_too_few_rounds_have_no_ratio(self):
        few = results(*[1] * (analysis.ROUNDS_MIN - 1))
        self.assertIsNone(analysis.ratio(*few.values()))
        self.assertIn("Too little", analysis.verdict(few))
        self.assertIn("Too little", analysis.verdict({analysis.MAIN: few[analysis.MAIN]}))

    def test_arms_with_other_arrivals_are_not_compared(self):
        short = analysis.Run([(70, 0, 1.0, 1.0)], SECONDS, idle)
        with self.assertRaises(ValueError):
            analysis.ratio([run_with(2, 1)] * 6, [short] * 6)

    def test_no_ratio_to_nothing(self):
        self.assertIsNone(analysis.ratio_of_means([(0, 1)] * 8))

    def test_students_quantiles(self):
        for freedom, quantile in ((5, 2.571), (7, 2.365), (13, 2.160), (27, 2.052), (120, 1.980)):
            self.assertAlmostEqual(analysis.student(freedom), quantile, delta=0.005 * quantile)

    def test_the_verdict_follows_the_numbers(self):
        better = analysis.verdict(results(*[1] * 6))
        self.assertIn("beat time-sharing", better)
        self.assertIn("Over all 8400 arrivals of 6 rounds, the mean slowdown is 1 under", better)
        self.assertIn("0.50 times as much", better)
        self.assertIn("worse than time-sharing", analysis.verdict(results(*[3] * 6)))
        undecided = analysis.verdict(results(1, 3, 1, 3, 1, 3))
        self.assertIn("has 1 in it", undecided)
        self.assertNotIn("time-sharing", undecided)

    def test_text_and_page_have_every_arm(self):
        found = results(*[1] * 6)
        text, page = analysis.markdown(found, SETTINGS), analysis.page(found, SETTINGS)
        for name in found:
            self.assertIn(f"| {name} |", text)
            self.assertIn(f"<th scope=row>{name}</th>", page)
        self.assertNotIn("](..", text, "the page is installed without the tests")
        self.assertEqual(page.count("<polyline"), 2)
        self.assertEqual(page.count("<circle"), 1, "an interval for each arm but the one compared with")


ALPHA, LARGEST, LOAD = 1.1, 300.0, 0.7


def bounded_pareto(rng):
    return (1 - rng.random() * (1 - LARGEST**-ALPHA)) ** (-1 / ALPHA)


def shared(jobs):
    """Slowdowns under processor sharing: all that is there advances by the same work, `done`."""
    out, there, now, done = [], [], 0.0, 0.0
    for at, size in [*jobs, (math.inf, 1.0)]:
        while there and now + (there[0][0] - done) * len(there) <= at:
            now += (there[0][0] - done) * len(there)
            done, came, its = heapq.heappop(there)
            out.append((now - came - its) / its)
        done += (at - now) / len(there) if there else 0.0
        now = at
        heapq.heappush(there, (done + size, at, size))
    return out


def one_by_one(jobs):
    free, out = 0.0, []
    for at, size in jobs:
        free = max(at, free)
        out.append((free - at) / size)
        free += size
    return out


class Coverage(unittest.TestCase):
    """Rounds of the law itself: four hosts that share time, against four that have an interval of sizes each and serve it in order."""

    def setUp(self):
        rng = random.Random(7)
        some = sorted(bounded_pareto(rng) for _ in range(20_000))
        self.mean, work = statistics.fmean(some), 0.0
        self.cutoffs = []
        for size in some:
            work += size
            if work >= sum(some) * (len(self.cutoffs) + 1) / 4 and len(self.cutoffs) < 3:
                self.cutoffs.append(size)
        self.rounds = [self.round(rng) for _ in range(100)]

    def round(self, rng, arrivals=2000):
        """(sum of slowdowns when sharing, in order)"""
        hosts, intervals, at = [[] for _ in range(4)], [[] for _ in range(4)], 0.0
        for i in range(arrivals):
            at += rng.expovariate(4 * LOAD / self.mean)
            size = bounded_pareto(rng)
            hosts[i % 4].append((at, size))
            intervals[sum(size > cutoff for cutoff in self.cutoffs)].append((at, size))
        return sum(sum(shared(jobs)) for jobs in hosts), sum(sum(one_by_one(jobs)) for jobs in intervals)

    def test_intervals_have_the_truth_as_often_as_they_say(self):
        base, other = (sum(column) for column in zip(*self.rounds))
        rng, inside, found = random.Random(11), 0, []
        for _ in range(1000):
            middle, low, high = analysis.ratio_of_means(rng.choices(self.rounds, k=8))
            inside += low <= other / base <= high
            found.append(math.log(middle))
        self.assertGreater(inside, 900)
        self.assertLess(inside, 990)
        self.assertAlmostEqual(math.exp(statistics.fmean(found)), other / base, delta=0.03 * other / base)


if __name__ == "__main__":
    unittest.main()
