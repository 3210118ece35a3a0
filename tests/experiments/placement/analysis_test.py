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
