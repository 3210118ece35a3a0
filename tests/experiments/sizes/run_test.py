#!/usr/bin/python3
"""The parts of the experiment on sizes that need no server: clients, calibration, the order and the repetition of runs, files."""

import importlib.util
import json
import sys
import tempfile
import threading
import time
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import arm  # noqa: E402
import calibration  # noqa: E402
from rounds import Work, whole_rounds  # noqa: E402
from settings import Differs, keep_settings  # noqa: E402


def load_run():
    loader = SourceFileLoader("sizes_run", str(Path(__file__).resolve().with_name("run")))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sizes_run", loader))
    loader.exec_module(module)
    return module


run = load_run()


class Connection:
    """Answers at once, or as execute() says."""

    def __init__(self, execute=lambda statement: None):
        self.execute = execute

    def cursor(self):
        return self

    def close(self):
        pass


class Clients(unittest.TestCase):
    def test_every_job_has_its_answer(self):
        jobs = [(0.001 * i, i % 3, 1.0 + i % 3) for i in range(50)]
        samples, late = arm.play(Connection, jobs, clients=4, late_max=60)
        self.assertEqual([one[:3] for one in samples], jobs)
        self.assertGreaterEqual(late, 0)

    def test_a_client_that_cannot_connect_fails_the_run(self):
        made = iter([Connection(), Connection(), None])

        def connect():
            return next(made) or self.fail("no more")

        with self.assertRaisesRegex(arm.Failed, "client 3 of 4 cannot connect"):
            arm.play(connect, [(0.0, 0, 1.0)], clients=4)

    def test_a_statement_that_fails_fails_the_run(self):
        def execute(statement):
            raise OSError("gone")

        with self.assertRaisesRegex(arm.Failed, "1 clients failed: OSError: gone"):
            arm.play(lambda: Connection(execute), [(0.0, 0, 1.0)], clients=2, late_max=60)

    def test_a_teacher_that_fails_or_does_not_end_fails_the_run(self):
        def execute(statement):
            raise OSError("gone")

        with self.assertRaisesRegex(arm.Failed, "clients failed"):
            arm.teach(lambda: Connection(execute), [(0, 1.0)], 1, 1)
        never = threading.Event()
        self.addCleanup(never.set)
        clients = arm.Clients(lambda: Connection(lambda statement: never.wait()), 2)
        clients.put(0.0, (0,), "select 1")
        with self.assertRaisesRegex(arm.Failed, "1 clients have not ended"):
            clients.finish(0.05)

    def test_every_connection_is_warmed_at_the_same_time(self):
        together = threading.Barrier(5, timeout=20)
        arm.warm(lambda: Connection(lambda statement: together.wait()), clients=5)
        self.assertFalse(together.broken)

    def test_a_machine_that_stood_still_is_noticed(self):
        clock = iter(range(1, 1000))
        with mock.patch.object(arm.time, "monotonic", lambda: float(next(clock))), self.assertRaisesRegex(arm.Disturbed, "late"):
            arm.play(Connection, [(0.0, 0, 1.0)], clients=0)


class Calibration(unittest.TestCase):
    SIZES = [1.0, 10.0, 100.0, 200.0]

    def found(self, *paces):
        return [{size: [pace * (0.001 * size if size < 30 else 0.004 * size)] * calibration.times_of(size) for size in self.SIZES} for pace in paces]

    def test_small_work_is_not_taken_to_be_held_up(self):
        found = calibration.calibrated("ab", self.found(1, 1.05), 0.0051)
        self.assertAlmostEqual(found["unit"], 0.0041)
        self.assertAlmostEqual(found["overhead"], 0.001)
        for seconds, expected in zip(found["idle"], (0.001025, 0.01025, 0.41, 0.82)):
            self.assertAlmostEqual(seconds, expected)

    def test_replicas_that_differ_are_refused(self):
        with self.assertRaisesRegex(calibration.Refused, "more than 10% longer.*a 4.000 ms, b 4.500 ms.*quiet moment"):
            calibration.calibrated("ab", self.found(1, 1.125), 0.005)

    def test_between_sizes_times_are_between(self):
        idle = calibration.Idle([1.0, 4.0, 16.0], [1.0, 2.0, 32.0])
        self.assertEqual([idle(size) for size in (1.0, 4.0, 16.0)], [1, 2, 32])
        self.assertAlmostEqual(idle(2.0), 2**0.5)
        self.assertAlmostEqual(idle(8.0), 8)
        for beyond in (0.9, 17.0):
            with self.assertRaises(ValueError):
                idle(beyond)

    def test_a_moment_of_something_else_does_not_count(self):
        self.assertEqual(calibration.middle_mean([1.0] * 7 + [100.0]), 1)
        self.assertEqual(calibration.middle_mean([1.0, 2.0]), 1.5)

    def test_replicas_are_left_alone_before_each_time(self):
        calls, slept = [], []
        with mock.patch.object(calibration.time, "sleep", slept.append):
            found = calibration.measure_idle(["a", "b"], [1.0, 100.0], lambda replica, size: calls.append(replica) or size)
        self.assertEqual([len(one[1.0]) for one in found], [calibration.TIMES] * 2)
        self.assertEqual([len(one[100.0]) for one in found], [calibration.TIMES_LONG] * 2)
        self.assertEqual(calls[:4], ["a", "b", "a", "b"])
        self.assertGreater(min(slept[2:]), 0.02)

    def test_a_row_is_what_the_quota_allows(self):
        calls = []
        self.assertEqual(calibration.measure_row([3.0, 1.0, 2.0], 1.5, lambda replica, size: calls.append(size) or replica), 2)
        self.assertEqual(calls, [1.5] * 3 * calibration.ROW)

    def test_a_folder_keeps_its_calibration_and_refuses_another_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calibration.json"
            first = calibration.keep_calibration(path, {"unit": 0.004, "overhead": 0.005, "sizes": [1], "idle": [0.001]}, 0.5, 4, 5.0)
            self.assertAlmostEqual(first["rate"], 80)
            self.assertEqual(calibration.keep_calibration(path, {"unit": 0.0042, "sizes": [1], "idle": [0.002]}, 0.5, 4, 5.0), first)
            with self.assertRaisesRegex(calibration.Refused, "takes 4.600 ms now, and took 4.000 ms"):
                calibration.keep_calibration(path, {"unit": 0.0046}, 0.5, 4, 5.0)


class Rounds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log, self.said = self.folder / "failures.log", []

    def work(self, todo, **more):
        return Work(todo, 1, self.log, self.said.append, **more)

    def test_what_fails_is_made_again_behind_the_others(self):
        played, work = [], self.work([1, 2, 3])

        def play(cell):
            played.append(cell)
            if played == [1]:
                raise arm.Disturbed("an arrival came 0.50 s late")

        work.off(play)
        self.assertEqual(played, [1, 2, 3, 1])
        self.assertIsNone(work.left())
        self.assertIn("1, try 1 of 3\nDisturbed: an arrival came 0.50 s late", self.log.read_text())

    def test_three_tries_are_all(self):
        played, work = [], self.work([1, 2])

        def play(cell):
            played.append(cell)
            if cell == 1:
                raise OSError("gone")

        work.off(play)
        self.assertEqual(played, [1, 2, 1, 1])
        self.assertEqual(work.given_up, [1])
        self.assertIn("1 runs were given up", work.left())

    def test_what_always_fails_ends_it(self):
        played, work = [], self.work(range(50))

        def play(cell):
            played.append(cell)
            raise OSError("gone")

        work.off(play)
        self.assertEqual(len(played), Work.IN_A_ROW_MAX)

    def test_nothing_begins_that_would_not_end_in_time(self):
        work = self.work([1], end=time.monotonic() + 0.5)
        work.off(self.fail)
        self.assertIn("1 are still to be made", work.left())

    def test_what_was_stopped_is_still_to_be_made(self):
        def play(cell):
            raise KeyboardInterrupt

        work = self.work([1])
        with self.assertRaises(KeyboardInterrupt):
            work.off(play)
        self.assertEqual(list(work.todo), [1])

    def test_only_whole_rounds_count(self):
        there = {(0, "a"), (0, "b"), (1, "a"), (2, "a"), (2, "b")}
        self.assertEqual(whole_rounds(3, ["a", "b"], lambda *cell: cell in there), [0, 2])

    def test_another_build_is_another_experiment(self):
        program = self.folder / "sluice"
        options = run.parse(["--output", str(self.folder)])
        for text in ("one", "two"):
            program.write_text(text)
            if text == "one":
                keep_settings(self.folder, run.settings_of(options, program))
                keep_settings(self.folder, run.settings_of(options, program))
        with self.assertRaisesRegex(Differs, "sluice_sha256 was .* and is .*another --output"):
            keep_settings(self.folder, run.settings_of(options, program))


class Script(unittest.TestCase):
    def options(self, *words):
        return run.parse(["--output", str(self.folder / "sizes"), *words])

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "sizes/runs").mkdir(parents=True)

    def test_arms_that_are_left_out_do_not_change_the_order(self):
        everything = list(run.cells(self.options("--arms", ",".join(run.NAMES))))
        some = self.options("--arms", "sita_e,rr")
        self.assertEqual(list(run.cells(some)), [cell for cell in everything if cell[1] in some.arms])
        self.assertEqual(some.arms, ["round robin, no limit", "sita_e, fcfs"])

    def test_the_whole_fits_forty_minutes(self):
        options = self.options()
        self.assertLess(run.estimate(options, len(list(run.cells(options)))), 40)

    def test_no_server_connection_is_encrypted(self):
        self.assertEqual(run.base_config([])["server_tls_sslmode"], "disable")

    def test_tables_are_of_the_whole_rounds(self):
        options = self.options("--arms", "rr,sita_e", "--rounds", "8", "--seconds", "8")
        sizes = [run.written(size) for _, size in run.kind_sizes()]
        calibrated = {"unit": 0.004, "overhead": 0.001, "rate": 100.0, "sizes": sizes, "idle": [0.004 * size for size in sizes]}
        (options.output / "calibration.json").write_text(json.dumps(calibrated))
        for number, name in run.cells(options):
            if (number, name) == (5, "sita_e, fcfs"):
                continue
            slowdown = (1 if name == run.NAMES["sita_e"] else 2) + 0.01 * number
            samples = [(0.1 * i, i % 20, sizes[i % 20], 0.004 * sizes[i % 20] * (1 + slowdown)) for i in range(80)]
            run.save(run.run_file(options, number, name), samples, (0.5, 0.75), 0.0123)
        with mock.patch("builtins.print"):
            run.write(options, {**run.settings_of(options, Path(__file__))})
        tables = json.loads((options.output / "tables.json").read_text())
        self.assertEqual(tables["settings"]["rounds"], 7)
        self.assertEqual(tables["settings"]["late"], 0.0123)
        self.assertEqual([len(tables["arms"][name]) for name in options.arms], [7, 7])
        self.assertAlmostEqual(tables["all_rounds"]["sita_e, fcfs"]["mean_slowdown"], 1.0329, delta=0.001)
        self.assertIn("beat time-sharing", (self.folder / "sizes.md").read_text())
        self.assertTrue((options.output / "samples.csv.gz").exists())


if __name__ == "__main__":
    unittest.main()
