#!/usr/bin/python3
"""The statistics of the experiment on the article's numbers and on the golden cases of the bootstrap."""

import random
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import analysis  # noqa: E402
import page  # noqa: E402


class AnalysisTest(unittest.TestCase):
    def test_golden_bootstrap_cases(self):
        self.assertEqual(analysis.median_difference([5, 5, 5], [3, 3]), (2, 2, 2))
        self.assertEqual(analysis.median_difference([1, 2, 3], [0]), (2, 1, 3))

    def test_resampled_medians_are_those_of_drawing_with_replacement(self):
        for n in (9, 10):
            values = [random.Random(n).random() for _ in range(n)]
            generator = random.Random(1)
            drawn = sorted(analysis.median(generator.choices(values, k=n)) for _ in range(20000))
            _, low, high = analysis.median_difference(values, [0], resamples=20000)
            self.assertAlmostEqual(low, analysis.quantile(drawn, 0.025), delta=0.03)
            self.assertAlmostEqual(high, analysis.quantile(drawn, 0.975), delta=0.03)

    def test_best_of_equal_arms_is_not_flattered(self):
        """200 experiments in which four arms are the same: on average there is no difference, and an interval that lies above
        0 is seldom. Expected are 5 of 200; more than 14 happen by chance once in 3,000 experiments, but the seed is fixed."""
        generator = random.Random(5)
        plain, fitted, alarms = [], [], 0
        for trial in range(200):
            ours, *rest = ([generator.expovariate(1) for _ in range(100)] for _ in range(4))
            arms = dict(enumerate(rest))
            plain.append(analysis.median(ours) - analysis.median(arms[analysis.least_median(arms)]))
            (difference, low, _), _ = analysis.difference_to_best(ours, arms, seed=trial, resamples=300)
            fitted.append(difference)
            alarms += low > 0
        # A median's standard error is 0.1 here, and that of a mean of 200 differences 0.01.
        self.assertGreater(sum(plain) / 200, 0.05)
        self.assertLess(abs(sum(fitted) / 200), 0.03)
        self.assertLessEqual(alarms, 14)

    def test_difference_to_an_arm_that_is_best_for_sure_is_the_plain_one(self):
        generator = random.Random(6)
        arms = {name: [mean + generator.gauss(0, 1) for _ in range(500)] for name, mean in (("a", 9), ("b", 5), ("c", 7))}
        ours = [5.3 + generator.gauss(0, 1) for _ in range(500)]
        got, picked = analysis.difference_to_best(ours, arms)
        plain = analysis.median_difference(ours, arms["b"])
        self.assertEqual(picked, ["b", "b"])
        self.assertGreater(got[1], 0)
        for value, expected in zip(got, plain):
            self.assertAlmostEqual(value, expected, delta=0.04)

    def test_best_is_picked_by_the_half_that_it_is_not_measured_by(self):
        # a is better in the even samples, b in the odd ones: each is picked by one half and measured by the other.
        got, picked = analysis.difference_to_best([4, 4, 4], {"a": [1, 9] * 5, "b": [9, 1] * 5}, resamples=10)
        self.assertEqual(picked, ["a", "b"])
        self.assertEqual(got, (-5, -5, -5))

    def test_published_sweep(self):
        a = {n: pair[0] for n, pair in page.PAPER["sweep"].items()}
        b = {n: pair[1] for n, pair in page.PAPER["sweep"].items()}
        self.assertAlmostEqual(analysis.interpolated_crossover(a, b), 2.05, places=2)
        line_a, line_b = analysis.least_squares(list(a.items())), analysis.least_squares(list(b.items()))
        for got, expected in zip((*line_a, *line_b), (1.244, 0.4437, 1.698, 0.2322)):
            self.assertAlmostEqual(got, expected, delta=0.0005)
        self.assertAlmostEqual(analysis.crossover(*line_a, *line_b), 2.15, places=2)

    def test_no_crossover_where_b_never_wins(self):
        self.assertIsNone(analysis.crossover(1, 0.2, 2, 0.3))
        self.assertIsNone(analysis.interpolated_crossover({0: 1, 1: 2}, {0: 2, 1: 3}))


if __name__ == "__main__":
    unittest.main()
