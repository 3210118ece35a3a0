#!/usr/bin/python3
"""Control groups in a folder that only looks like the kernel's, and the order of the runs."""

import sys
import tempfile
import unittest
from itertools import groupby
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from quotas import NoQuotas, Quota, controller  # noqa: E402
from strategies import PAPER, SESSION, SIX, TRANSACTION, cells  # noqa: E402


class Quotas(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.mount = Path(folder.name)

    def test_says_what_is_missing(self):
        with self.assertRaisesRegex(NoQuotas, "no cpu and cpuacct controllers of cgroup v1.*; cgroup v2 is not mounted there"):
            controller(self.mount)

    def test_version_2_without_the_controller_is_none(self):
        (self.mount / "cgroup.controllers").write_text("memory io\n")
        with self.assertRaisesRegex(NoQuotas, "no cpu controller"):
            controller(self.mount)

    def test_version_1(self):
        for folder, file in (("cpu", "cpu.cfs_period_us"), ("cpuacct", "cpuacct.usage")):
            (self.mount / folder).mkdir()
            (self.mount / folder / file).touch()
        quota = Quota("some", 0.15, 10, controller(self.mount))
        quota.add([4711])
        self.assertEqual((self.mount / "cpu/some/cpu.cfs_quota_us").read_text(), "1500")
        self.assertEqual((self.mount / "cpu/some/cpu.cfs_period_us").read_text(), "10000")
        self.assertEqual((self.mount / "cpu/some/cpu.shares").read_text(), "10240")
        self.assertEqual((self.mount / "cpu/some/cgroup.procs").read_text(), "4711")
        self.assertEqual((self.mount / "cpuacct/some/cgroup.procs").read_text(), "4711")
        self.assertEqual(quota.accounting, self.mount / "cpuacct/some")

    def test_version_2(self):
        (self.mount / "cgroup.controllers").write_text("cpu memory\n")
        Quota("some", 0.15, 10, controller(self.mount))
        self.assertEqual((self.mount / "cgroup.subtree_control").read_text(), "+cpu")
        self.assertEqual((self.mount / "some/cpu.max").read_text(), "1500 10000")
        self.assertEqual((self.mount / "some/cpu.weight").read_text(), "1000")

    def test_version_2_without_a_limit(self):
        (self.mount / "cgroup.controllers").write_text("cpu\n")
        Quota("some", made_by=controller(self.mount))
        self.assertEqual((self.mount / "some/cpu.max").read_text(), "max 10000")


class Grid(unittest.TestCase):
    def setUp(self):
        self.cells = list(cells([60, 280, 420], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 7))

    def test_has_every_configuration_in_every_repetition_once(self):
        self.assertEqual(len(set(self.cells)), len(self.cells))
        each = len(SESSION) * 3 * 3 + len(PAPER) * 2 + len(SIX) * 3 + len(TRANSACTION) * 2 * 3
        self.assertEqual(len(self.cells), 5 * each)

    def test_goes_repetition_by_repetition_and_grid_by_grid(self):
        parts = [key for key, _ in groupby(self.cells, lambda c: (c.repetition, c.grid))]
        self.assertEqual(parts, [(r, g) for r in range(1, 6) for g in ("session", "six", "transaction")])

    def test_order_within_a_repetition_is_random_but_the_same_for_a_seed(self):
        again = list(cells([60, 280, 420], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 7))
        self.assertEqual(again, self.cells)
        self.assertNotEqual(list(cells([60, 280, 420], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 8)), self.cells)
        first = [c.strategy for c in self.cells[:11]]
        self.assertGreater(len(set(first)), 1)


if __name__ == "__main__":
    unittest.main()
