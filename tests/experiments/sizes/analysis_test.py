#!/usr/bin/python3
"""The sums of the experiment on sizes, on runs whose answers are known."""

import random
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import analysis  # noqa: E402

UNIT, SECONDS = 0.002, 80
SETTINGS = {
    "seconds": SECONDS, "rounds": 2, "load": 0.7, "replicas": 4, "quota": 0.3, "alpha": 1.1, "smallest": 1, "largest": 300,
    "kinds": 20, "unit": UNIT, "rate": 100, "load_average": [0.5, 1.5], "processors": 2,
}  # fmt: skip


def run_with(slowdown, seed, noise=0.1):
    """Arrivals of two kinds, all of them slowed by about so much."""
    rng = random.Random(seed)
    samples = []
    for i in range(1600):
        kind, size = (0, 2.0) if i % 4 else (19, 100.0)
        factor = slowdown * (1 + rng.uniform(-noise, noise))
        samples.append((i * SECONDS / 1600, kind, size, size * UNIT * (1 + factor)))
    return analysis.Run(samples, SECONDS, UNIT)


def results(main):
    return {analysis.BASE: [run_with(2, 1), run_with(2, 2)], analysis.MAIN: [run_with(main, 3), run_with(main, 4)]}


class Analysis(unittest.TestCase):
    def test_a_run_counts_from_its_first_eighth_on(self):
        found = run_with(2, 1).summary()
        self.assertEqual(found["count"], 1400)
        self.assertAlmostEqual(found["mean_slowdown"], 2, delta=0.02)
        self.assertAlmostEqual(found["large_slowdown"], 2, delta=0.05)
        self.assertAlmostEqual(found["mean_wait_seconds"], 2 * UNIT * (0.75 * 2 + 0.25 * 100), delta=0.005)
        self.assertEqual([len(part) for part in run_with(2, 1).parts], [200] * 7)

    def test_quicker_than_idle_is_no_wait(self):
        self.assertEqual(run_with(-0.5, 1).summary()["mean_slowdown"], 0)

    def test_a_ratio_has_the_truth_in_its_interval(self):
        middle, low, high = analysis.ratio(*results(1).values())
        self.assertLess(low, 0.5)
        self.assertGreater(high, 0.5)
        self.assertAlmostEqual(middle, 0.5, delta=0.01)
        self.assertLess(high - low, 0.02)

    def test_too_little_has_no_ratio(self):
        few = analysis.Run([(70, 0, 1.0, 1.0)], SECONDS, UNIT)
        self.assertIsNone(analysis.ratio([few], [few]))
        self.assertIn("Too little", analysis.verdict({analysis.BASE: [few], analysis.MAIN: [few]}))

    def test_students_quantiles(self):
        for freedom, quantile in ((4, 2.776), (6, 2.447), (13, 2.160), (27, 2.052), (120, 1.980)):
            self.assertAlmostEqual(analysis.student(freedom), quantile, delta=0.005 * quantile)

    def test_the_verdict_follows_the_numbers(self):
        self.assertIn("beat time-sharing", analysis.verdict(results(1)))
        self.assertIn("worse than time-sharing", analysis.verdict(results(3)))
        self.assertIn("no difference beyond chance", analysis.verdict({
            analysis.BASE: [run_with(2, 1, 0.9), run_with(2, 2, 0.9)], analysis.MAIN: [run_with(2, 3, 0.9), run_with(2, 4, 0.9)],
        }))  # fmt: skip

    def test_text_and_page_have_every_arm(self):
        found = results(1)
        text, page = analysis.markdown(found, SETTINGS), analysis.page(found, SETTINGS)
        for name in found:
            self.assertIn(f"| {name} |", text)
            self.assertIn(f"<th scope=row>{name}</th>", page)
        self.assertEqual(page.count("<polyline"), 2)
        self.assertEqual(page.count("<circle"), 1, "an interval for each arm but the one compared with")


if __name__ == "__main__":
    unittest.main()
