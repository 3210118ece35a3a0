#!/usr/bin/python3
"""The tables on made-up runs, and the statistics of the objectives on known numbers."""

import contextlib
import csv
import io
import json
import math
import statistics
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import tables  # noqa: E402
from objectives import Change, holm, incomplete_beta, judged, least_for_freemium, objectives, other_mix, paired, target, welch  # noqa: E402

SETTINGS = {"workload": "tpch", "scale": "0.005", "think": 0.9, "duration": 14}
NOISE = (-0.01, 0.0, 0.01)  # of a value, by repetition


def t_test(t, freedom):
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


class Statistics(unittest.TestCase):
    def test_students_distribution(self):
        self.assertAlmostEqual(t_test(1, 1), 0.5, 10)
        self.assertAlmostEqual(t_test(2, 2), 1 - 2 / math.sqrt(6), 10)
        self.assertAlmostEqual(t_test(2.228138852, 10), 0.05, 8)
        self.assertAlmostEqual(t_test(0, 7), 1, 10)

    def test_welch(self):
        self.assertAlmostEqual(welch([0.0, 2.0], [4.0, 6.0]), 1 - math.sqrt(8 / 10), 10)  # t = -4 / sqrt 2, two degrees of freedom
        self.assertIsNone(welch([1.0], [1.0, 2.0]))
        self.assertEqual((welch([1.0, 1.0], [1.0, 1.0]), welch([1.0, 1.0], [2.0, 2.0])), (1.0, 0.0))

    def test_paired(self):
        self.assertAlmostEqual(paired([1.0, math.e**2], [1.0, 1.0]), 0.5, 10)  # t = 1, one degree of freedom
        self.assertAlmostEqual(paired([2.0, 40.0, 6.0], [1.0, 10.0, 2.0]), t_test(math.log(24) / 3 / (statistics.stdev([math.log(n) for n in (2, 4, 3)]) / math.sqrt(3)), 2), 10)
        self.assertLess(paired([2.0, 21.0, 202.0], [1.0, 10.0, 100.0]), 0.005, "though the pairs differ by a factor of a hundred")
        self.assertIsNone(paired([1.0], [1.0]))
        self.assertIsNone(paired([1.0, 0.0], [1.0, 2.0]))
        self.assertEqual((paired([1.0, 3.0], [1.0, 3.0]), paired([2.0, 6.0], [1.0, 3.0])), (1.0, 0.0))

    def test_one_that_goes_the_other_way_contradicts(self):
        self.assertEqual(judged("x", [Change(-0.2, 0.01), Change(-0.1, 0.3)])[3:], [1, 1, 0, 0, 0, 0, "shown"])
        self.assertEqual(judged("x", [Change(-0.2, 0.01), Change(0.1, 0.01)])[3:], [1, 1, 0, 1, 0, 0, "contradicted"])
        self.assertEqual(judged("x", [Change(-0.2), Change(0.1, 0.2)])[2:], ["-20% to +10%", 0, 0, 0, 0, 0, 0, "not shown"])
        beside = [Change(-0.2, 0.2, 0.01), Change(0.1, 0.3, 0.04), Change(-0.1, 0.4, 0.03)]
        self.assertEqual(judged("x", beside)[3:], [0, 0, 1, 0, 1, 0, "not shown"])
        self.assertEqual(judged("x", [Change(0.2, 0.01)], promised=False)[-1], "a price")
        self.assertEqual(judged("x", [])[-1], "no runs")

    def test_holm(self):
        self.assertEqual(holm([0.01, None, 0.04, 0.03]), [0.03, None, 0.06, 0.06])
        self.assertEqual(holm([0.9, 0.6]), [1.0, 1.0])
        self.assertEqual(holm([]), [])

    def test_one_of_many_is_shown_by_the_corrected_p_alone(self):
        many = [Change(-0.2, 0.03), *[Change(-0.1, 0.5)] * 7]
        self.assertEqual(judged("x", many)[3:], [1, 0, 0, 0, 0, 0, "not shown"])
        self.assertEqual(judged("x", [Change(-0.2, 0.006), *many[1:]])[3:], [1, 1, 0, 0, 0, 0, "shown"])

    def test_what_may_be_the_other_way_shows_nothing(self):
        self.assertEqual(judged("x", [Change(-0.2, 0.001, at_least=True)])[2:], [">= -20% to >= -20%", 0, 0, 0, 0, 0, 1, "not shown"])
        self.assertEqual(judged("x", [Change(-0.2, 0.001, at_most=True)])[2:], ["<= -20% to <= -20%", 1, 1, 0, 0, 0, 1, "shown"])
        self.assertEqual(judged("x", [Change(0.2, 0.001, at_most=True)])[-1], "not shown")
        self.assertEqual(judged("x", [Change(0.2, 0.001, at_least=True)])[-1], "contradicted")
        self.assertEqual(Change(0.2, at_least=True, at_most=True).text(), "? +20%")

    def test_the_other_partition_is_named_beforehand(self):
        self.assertEqual([other_mix((240, share)) for share in (0.1, 0.3, 0.5, 0.7, 0.9)], ["dedicated_4_1"] * 3 + ["dedicated_3_2"] * 2)
        self.assertEqual({least_for_freemium((240, share)) for share in (0.1, 0.9)}, {"dedicated_4_1"})


class Made(unittest.TestCase):
    """A folder as `run` leaves it. `values` of a strategy: Premium's and Freemium's median (the p95 is thrice, the mean once as much), u."""

    SESSION = {"plb": (0.8, 1.2, 0.8), "round_robin": (1.0, 1.0, 0.9), "dedicated_3_2": (0.7, 1.5, 0.7), "dedicated_4_1": (0.6, 1.4, 0.6)}
    TRANSACTION = {"round_robin": (1.0, 1.0, 0.9), "class_queue": (0.5, 1.1, 0.9), "plb": (0.8, 1.3, 0.9), "budgets": (0.5, 0.9, 0.9)}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.loads = [60, 240, 380]
        self.make("session", self.SESSION)
        self.make("transaction", self.TRANSACTION)
        (self.folder / "options.json").write_text(json.dumps(SETTINGS))

    def row(self, mode, strategy, terminals, repetition, name, scale="0.005", errors=0):
        premium, freemium, u = {"session": self.SESSION, "transaction": self.TRANSACTION}[mode][strategy]
        median = (premium if name == "premium" else freemium) * (1 + NOISE[repetition - 1])
        return {
            "workload": "tpch", "scale": scale, "budget": 5, "mode": mode, "strategy": strategy, "terminals": terminals, "premium_share": 0.3,
            "repetition": repetition, "class": name, "sessions": 10, "sessions_failed": 0, "queries": 100,
            "errors": errors, "timed_out": 0, "cut": 0, "refused": errors, "failed": 0, "at_least": "", "sessions_served": 8, "sessions_lost": 0,
            "sessions_timed_out": 0, "sessions_cut": 0, "abandoned_open": 0, "mean": median,
            "median": median, "p95": 3 * median, "session_waiting_mean": 0.02 if name == "premium" else 0.05,
            "utilization": u * (1 + NOISE[repetition - 1]), "utilization_cv": 0.1,
        }

    def make(self, mode, strategies):
        (self.folder / mode).mkdir()
        rows = [self.row(mode, s, t, n, name, errors=3 if (s, name) == ("budgets", "freemium") else 0)
                for s in strategies for t in self.loads for n in (1, 2, 3) for name in ("premium", "freemium")]
        self.write(mode, rows)
        heads = ["group", "strategy", "terminals", "premium_share", "class", "value", "change", "paired_low", "paired_high", "p_welch", "hedges_g",
                 "lost_share", "baseline_lost_share", "baseline", "p_holm", "at_least"]
        with open(self.folder / mode / "comparisons.csv", "w", newline="") as file:
            csv.writer(file).writerows([heads, [f"tpch at scale 0.005, 5 replicas, {mode} mode, 14 s, think time 0.9 s", "plb", 240, 0.3, "premium",
                                                "median", -0.2, "", "", 0.01, -2.0, 0.05, 0, "round_robin", 0.04, ""],
                                        [f"tpch at scale 1, 5 replicas, {mode} mode, 14 s, think time 0.9 s", "plb", 380, 0.3, "premium", "median",
                                         -0.9, "", "", 0.01, -2.0, 0, 0, "round_robin", 0.04, ""]])
        for s in strategies:
            for t in self.loads:
                for n in (1, 2, 3):
                    run = self.folder / mode / "runs" / f"{s}-5-{t}-0.3-{n}"
                    run.mkdir(parents=True)
                    queries = [("freemium", "", "measured")] * 6 + [("freemium", "57014", "measured"), ("freemium", "53300", "warm-up")]
                    queries += [("freemium", "53300", "measured")] * 3 + [("premium", "53300", "measured")]
                    with open(run / "queries.csv", "w", newline="") as file:
                        csv.writer(file).writerows([("class", "error", "phase"), *queries])
                    self.sessions(run, 0)

    def sessions(self, run, silent):
        """Eight measured sessions of Freemium, so many of which asked nothing, and one of Premium; who came in the warm-up does not count."""
        with open(run / "sessions.csv", "w", newline="") as file:
            csv.writer(file).writerows([("class", "phase", "queries"), ("premium", "measured", 3), ("freemium", "warm-up", 0),
                                        *[("freemium", "measured", 0 if n < silent else 4) for n in range(8)]])

    def silence(self, mode, strategy, silent):
        for run in (self.folder / mode / "runs").glob(f"{strategy}-5-*"):
            self.sessions(run, silent)

    def compare(self, mode, **changes):
        """Changes the first comparison."""
        path = self.folder / mode / "comparisons.csv"
        all_of = tables.read(path)
        all_of[0].update(changes)
        with open(path, "w", newline="") as file:
            out = csv.DictWriter(file, list(all_of[0]))
            out.writeheader()
            out.writerows(all_of)

    def write(self, mode, rows):
        with open(self.folder / mode / "runs.csv", "w", newline="") as file:
            out = csv.DictWriter(file, list(rows[0]))
            out.writeheader()
            out.writerows(rows)

    def runs(self, mode):
        return tables.Runs(self.folder / mode, SETTINGS)

    def printed(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            tables.main(self.folder)
        return out.getvalue()

    def test_objectives(self):
        found = {row[0]: row for row in objectives(self.runs("session"), [(240, 0.3), (380, 0.3)])}
        rows = list(found.values())
        self.assertEqual([row[1] for row in rows], [2] * 5)
        self.assertEqual([row[-1] for row in rows], ["shown", "shown", "shown", "shown", "a price"])
        self.assertEqual(rows[2][2], "-33% to -33%")  # 0.8 against 0.6 under 4+1
        self.assertEqual(rows[3][2], "-14% to -14%")  # 1.2 against 1.4 under 4+1, though 3+2 happened to be worse
        self.assertEqual(rows[4][2:7], ["+20% to +20%", 0, 0, 0, 2])

    def test_sessions_that_never_asked_make_times_lower_bounds(self):
        self.silence("session", "plb", 2)
        runs = self.runs("session")
        self.assertEqual(runs.never_asked(5, "plb", 240, 0.3, name="freemium"), 0.25)
        self.assertEqual(runs.never_asked(5, "plb", 240, 0.3, name="premium"), 0)
        found = {row[0]: row[2:] for row in objectives(runs, [(240, 0.3), (380, 0.3)])}
        price = found["O3: Freemium median against 4+1, the worse partition for it"]
        self.assertEqual(price, [">= -14% to >= -14%", 0, 0, 0, 0, 0, 2, "not shown"])
        self.assertEqual(found["O1: Premium median against round robin"][-2:], [0, "shown"])
        self.assertEqual(found["O2: u against the partition cut for another mix, the sign turned"][-2:], [0, "shown"])
        text = self.printed()
        self.assertIn("| 60 | 0.3 | plb | 800 | 2400 | >= 1200 | >= 3600 | >= 1080 | >= 1000 | 20 / 50 | 0.0% / 25.0% | 0 / 0 | 0.80 |", text)
        self.assertIn("| O3: Freemium median against 4+1 | 240 | 0.3 | dedicated_4_1 | >= -14% |", text)

    def test_and_so_in_the_target(self):
        self.silence("transaction", "class_queue", 1)
        changes, missed = target(self.runs("transaction"), "class_queue", (240, 0.3))
        self.assertEqual([c.at_least for c in changes], [False, True, True])
        self.assertEqual(missed, ["Freemium median perhaps: it is a lower bound", "mean perhaps: it is a lower bound"])
        self.silence("transaction", "round_robin", 1)
        _, missed = target(self.runs("transaction"), "plb", (240, 0.3))
        self.assertIn("Freemium median by 15 points, or not: round robin's is a lower bound", missed)
        self.assertIn("| 240 | 0.3 | class_queue | -50% | ? +10% | ? -8% | missed: Freemium median perhaps", self.printed())

    def test_a_few_sessions_at_the_end_make_no_bound(self):
        runs = self.runs("session")
        runs.asked = {(runs.run_folder(r), r["class"]): (5, 100) for r in runs.rows}
        self.assertFalse(runs.bound(5, "plb", 240, 0.3, name="freemium", key="median"))
        runs.asked = {key: (6, 100) for key in runs.asked}
        self.assertTrue(runs.bound(5, "plb", 240, 0.3, name="freemium", key="median"))

    def test_comparisons_say_which_side_is_a_lower_bound(self):
        self.compare("session", at_least="strategy")
        self.assertIn("| 240 | 0.3 | >= -20% | - | 0.01 (0.04) |", self.printed())
        self.compare("session", at_least="baseline")
        self.assertIn("| 240 | 0.3 | <= -20% | - | 0.01 (0.04) |", self.printed())
        self.compare("session", **{"class": "freemium", "at_least": ""})
        self.silence("session", "round_robin", 4)
        self.assertIn("| 240 | 0.3 | <= -20% | - | 0.01 (0.04) | -2.0 | - | - | - | - | 5.0% / 0.0% | 0.0% / 50.0% |", self.printed())
        self.assertIn("| plb | freemium | median | 1 | 1: median -20%, -20% to -20% | none | -20% | 1 |", self.printed())

    def test_a_run_that_left_queries_open_is_marked(self):
        rows = [dict(r) for r in self.runs("transaction").rows]
        for r in rows:
            if (r["strategy"], r["terminals"], r["repetition"]) == ("class_queue", "240", "2"):
                r["abandoned_open"] = "3"  # of the run, in the row of either class
        self.write("transaction", rows)
        self.assertIn("| 240 | 0.3 | class_queue (disturbed: left 3 queries open) |", self.printed())
        self.assertIn("| met (disturbed: left 3 queries open) |", self.printed())

    def test_an_objective_needs_its_partition(self):
        runs = self.runs("session")
        runs.rows = [r for r in runs.rows if r["strategy"] != "dedicated_4_1"]
        self.assertEqual([row[1] for row in objectives(runs, [(240, 0.3)])], [1, 1, 0, 0, 1])

    def test_target(self):
        runs = self.runs("transaction")
        changes, missed = target(runs, "class_queue", (240, 0.3))
        self.assertEqual([round(c.change, 6) for c in changes], [-0.5, 0.1, -0.08])  # 0.3 * 0.5 + 0.7 * 1.1
        self.assertEqual(missed, [])
        self.assertEqual(target(runs, "plb", (240, 0.3))[1], ["Premium p95 by 10 points", "Freemium median by 15 points", "mean by 15 points"])
        self.assertIsNone(target(runs, "class_shortest", (240, 0.3)))

    def test_means_by_class(self):
        runs = self.runs("transaction")
        self.assertAlmostEqual(runs.overall(5, "class_queue", 240, 0.3), 0.92)
        self.assertAlmostEqual(runs.overall(5, "class_queue", 240, 0.3, weight=0.5), 0.8)

    def test_what_was_lost_stands_beside_the_medians(self):
        rows = [dict(r) for r in self.runs("session").rows]
        for r in rows:
            if (r["strategy"], r["class"]) == ("dedicated_4_1", "freemium"):
                r |= {"queries": "90", "errors": "10", "cut": "6", "failed": "4", "at_least": "mean p95", "refused": "0", "sessions_served": "6",
                      "sessions_lost": "2", "sessions_cut": "2"}
        self.write("session", rows)
        text = self.printed()
        self.assertIn("| 0 / 10.0% of queries, 25.0% of sessions |", text)
        self.assertIn("| 1400 | >= 4200 | >= 1160 |", text)

    def test_what_ended_for_nobody_still_has_times(self):
        runs = self.runs("session")
        for r in runs.rows:
            r |= {"queries": "0", "cut": "5"}
        self.assertAlmostEqual(runs.value(5, "plb", 240, 0.3, name="premium", key="median"), 0.8)

    def test_only_refusals_are_refusals(self):
        refused, failed = self.runs("transaction").refused(5, "budgets", 240, 0.3, name="freemium")
        self.assertAlmostEqual(refused, 0.3)
        self.assertAlmostEqual(failed, 0.1)

    def test_runs_of_other_options_do_not_count(self):
        other = [self.row("session", "plb", 240, 1, name, scale="1") for name in ("premium", "freemium")]
        mine = [self.row("session", "plb", 240, 1, name) for name in ("premium", "freemium")]
        self.write("session", mine + other)
        self.assertEqual([r["scale"] for r in self.runs("session").rows], ["0.005", "0.005"])
        self.write("session", other)
        with self.assertRaisesRegex(SystemExit, "no runs of tpch at scale 0.005"):
            self.runs("session")
        comparisons = tables.Comparisons(self.folder / "session", SETTINGS)
        self.assertEqual(comparisons.at(5, "plb", 240, 0.3, "premium", "median")["change"], "-0.2")
        self.assertIsNone(comparisons.at(5, "plb", 380, 0.3, "premium", "median"))

    def test_everything_is_printed(self):
        text = self.printed()
        self.assertIn("| O3: Freemium median against 4+1, the worse partition for it | 2 | -14% to -14% | 2 | 2 | 2 | 0 | 0 | 0 | shown |", text)
        self.assertIn("| 240 | 0.3 | class_queue | -50% | +10% | -8% | met |", text)
        self.assertIn("| 240 | 0.3 | -20% | - | 0.01 (0.04) | -2.0 | - | - | - | - | 5.0% / 0.0% | 0.0% / 0.0% |", text)
        self.assertIn("| 240 | 0.3 | budgets | -50% | -10% | -22% | met; but by those alone who were served |", text)
        self.assertIn("| 60 | 0.3 | plb | 800 | 2400 | 1200 | 3600 | 1080 | 1000 | 20 / 50 | 0.0% / 0.0% | 0 / 0 | 0.80 | 0.10 | 3 |", text)
        self.assertIn("| 240 | 0.3 | budgets | - | - | - | - | -22% | -30% | 0.0% | 30.0% | 10.0% | 3 |", text)
        self.assertNotIn("| 60 | 0.3 | class_queue | -50% | +10% | -8% | met |", text)  # there is no contention
        self.assertNotIn("nan", text)

    def test_one_load_is_enough(self):
        for mode in ("session", "transaction"):
            runs = self.runs(mode)
            self.write(mode, [r for r in runs.rows if r["terminals"] == "240"])
        text = self.printed()
        self.assertIn("| O1: Premium median against round robin | 1 |", text)
        self.assertIn("| light load: medians of PLB and 3+2 against round robin | nearly equal | - |", text)

    def test_without_options_nothing_is_said(self):
        (self.folder / "options.json").unlink()
        with self.assertRaisesRegex(SystemExit, "no options.json"):
            tables.main(self.folder)


if __name__ == "__main__":
    unittest.main()
