#!/usr/bin/python3
"""Control groups in a folder that only looks like the kernel's, and the order of the runs."""

import contextlib
import importlib.util
import io
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from importlib.machinery import SourceFileLoader
from itertools import groupby
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from estimate import BEDS_READY, bar, clock, plan, seconds_of  # noqa: E402
from quotas import NoQuotas, Quota, check_quota, controller, thread_controller  # noqa: E402
from settings import Differs, keep_settings  # noqa: E402
from strategies import PAPER, SESSION, SIX, TRANSACTION, Cell, cells  # noqa: E402


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
        of_threads = Quota("other", 0.3, made_by=thread_controller(self.mount))
        of_threads.add_thread(4712)
        self.assertEqual((self.mount / "cpu/other/tasks").read_text(), "4712")
        self.assertEqual((self.mount / "cpu/other/cpu.cfs_quota_us").read_text(), "3000")

    def test_version_1_with_one_mount_for_both(self):
        both = self.mount / "cpu,cpuacct"
        both.mkdir()
        for file in ("cpu.cfs_period_us", "cpuacct.usage"):
            (both / file).touch()
        for link in ("cpu", "cpuacct"):
            (self.mount / link).symlink_to("cpu,cpuacct")
        made_by = controller(self.mount)
        self.assertEqual(made_by.folders("some"), [both.resolve() / "some"])
        self.assertEqual(Quota("some", 0.2, 1, made_by).accounting, both.resolve() / "some")

    def test_what_the_kernel_would_refuse_is_refused_first(self):
        with self.assertRaisesRegex(NoQuotas, "0.099 processors is below 0.1"):
            check_quota(0.099)
        check_quota(0.1)
        check_quota(None)

    def group(self):
        """One without files, unlike the kernel's, so that it can be removed as those can."""
        (self.mount / "cgroup.controllers").write_text("cpu\n")
        quota = Quota("some", 0.5, made_by=controller(self.mount))
        for file in (self.mount / "some").iterdir():
            file.unlink()
        return quota

    def test_a_group_that_is_busy_is_tried_again(self):
        quota = self.group()
        held = self.mount / "some/cgroup.procs"
        held.touch()
        threading.Timer(0.3, held.unlink).start()
        begin = time.monotonic()
        quota.remove()
        self.assertFalse((self.mount / "some").exists())
        self.assertGreaterEqual(time.monotonic() - begin, 0.25)

    def test_but_not_for_ever(self):
        quota = self.group()
        quota.REMOVE_SECONDS = 0.2
        (self.mount / "some/cgroup.procs").touch()
        with self.assertRaisesRegex(OSError, "stays busy"):
            quota.remove()

    def test_version_2(self):
        (self.mount / "cgroup.controllers").write_text("cpu memory\n")
        Quota("some", 0.15, 10, controller(self.mount))
        self.assertEqual((self.mount / "cgroup.subtree_control").read_text(), "+cpu")
        self.assertEqual((self.mount / "some/cpu.max").read_text(), "1500 10000")
        self.assertEqual((self.mount / "some/cpu.weight").read_text(), "1000")
        with self.assertRaisesRegex(NoQuotas, "by cgroup v1 alone"):
            thread_controller(self.mount)

    def test_version_2_without_a_limit(self):
        (self.mount / "cgroup.controllers").write_text("cpu\n")
        Quota("some", made_by=controller(self.mount))
        self.assertEqual((self.mount / "some/cpu.max").read_text(), "max 10000")


class Grid(unittest.TestCase):
    def setUp(self):
        self.cells = list(cells([60, 280, 420], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 7))

    def test_has_every_configuration_in_every_repetition_once(self):
        self.assertEqual(len(set(self.cells)), len(self.cells))
        each = len(SESSION) * 3 * 3 + len(PAPER) * 2 + len(SIX) * 3 + len(TRANSACTION) * 3 * 3
        self.assertEqual(len(self.cells), 5 * each)

    def test_goes_stage_by_stage_and_in_each_repetition_by_repetition(self):
        parts = [key for key, _ in groupby(self.cells, lambda c: (c.grid, c.repetition))]
        self.assertEqual(parts, [(g, r) for g in ("session", "six", "transaction") for r in range(1, 6)])

    def test_a_stage_is_the_same_with_and_without_others(self):
        for stage in ("session", "six", "transaction"):
            alone = list(cells([60, 280, 420], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 7, [stage]))
            self.assertEqual(alone, [c for c in self.cells if c.grid == stage])

    def test_those_that_are_compared_follow_each_other(self):
        for _, run in groupby(self.cells, lambda c: (c.grid, c.repetition, c.terminals, c.share)):
            run = [c.strategy for c in run]
            self.assertEqual(len(run), len(set(run)))
            self.assertIn(set(run), [set(SESSION), set(PAPER), set(SIX), set(TRANSACTION)])
        self.assertGreater(len({c.strategy for c in self.cells[::6]}), 3, "and each comes first sometimes")

    def test_order_within_a_repetition_is_random_but_the_same_for_a_seed(self):
        again = list(cells([60, 280, 420], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 7))
        self.assertEqual(again, self.cells)
        self.assertNotEqual(list(cells([60, 280, 420], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 8)), self.cells)
        first = [c.strategy for c in self.cells[:11]]
        self.assertGreater(len(set(first)), 1)

    def test_transaction_mode_has_all_loads(self):
        self.assertEqual({c.terminals for c in self.cells if c.mode == "transaction"}, {60, 280, 420})

    def test_each_stage_has_loads_of_its_own(self):
        found = list(cells(None, [0.5], [0.1], 1, 7))
        self.assertEqual({stage: sorted({c.terminals for c in found if c.grid == stage}) for stage in ("session", "six", "transaction")},
                         {"session": [60, 300, 380], "six": [380], "transaction": [60, 240, 380]})
        self.assertEqual({c.terminals for c in found if c.share == 0.1}, {300})

    def test_any_number_of_loads(self):
        self.assertEqual({c.terminals for c in cells([100], [0.5], [0.1], 1, 7)}, {100})
        edges = {c.terminals for c in cells([1, 2, 3, 4], [0.5], [0.1], 1, 7) if c.share == 0.1}
        self.assertEqual(edges, {3})


class Estimates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = Path(folder.name)

    def test_the_main_grid_fits_into_a_hundred_minutes(self):
        main = list(cells(None, [0.3, 0.5, 0.7], [0.1, 0.9], 5, 7, ["session"]))
        seconds = seconds_of(self.output, 14)
        self.assertLess(len(main) * seconds + BEDS_READY, 100 * 60)
        self.assertEqual(plan(main, main, seconds, 1), [
            "session       310 runs in 5 repetitions, 0 of them there: 80 min left",
            "all          82 min, with 15.5 s for a run, 1 at a time, and the data"])

    def test_what_is_there_takes_no_time(self):
        both = list(cells([60, 240, 380], [0.3, 0.5, 0.7], [0.1, 0.9], 5, 7, ["six", "transaction"]))
        lines = plan(both, [c for c in both if c.grid == "six" and c.repetition > 3], 60, 2)
        self.assertEqual(lines[0], "six            45 runs in 5 repetitions, 27 of them there: 9 min left")
        self.assertEqual(lines[1], "transaction   225 runs in 5 repetitions, 225 of them there: 0 min left")
        self.assertTrue(plan(both, [], 60, 2)[-1].startswith("all          0 min"))

    def test_what_runs_took_is_better_than_a_guess(self):
        (self.output / "session").mkdir()
        rows = "run,ended,seconds\n" + "".join(f"r{n},x,{20 + n}\n" for n in range(5))
        (self.output / "session/load.csv").write_text(rows)
        self.assertEqual(seconds_of(self.output, 14), 22)

    def test_the_bar(self):
        self.assertEqual(bar(0, 4), "[>                       ]   0%")
        self.assertEqual(bar(2, 4), "[============>           ]  50%")
        self.assertEqual(bar(4, 4), "[========================] 100%")
        self.assertEqual((clock(59 * 60), clock(125 * 60)), ("59 min", "2 h 05 min"))


class Settings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_the_same_may_go_on(self):
        for _ in range(2):
            keep_settings(self.folder, {"quota": 0.1, "lifetime": [2, 6]})
        self.assertEqual(json.loads((self.folder / "options.json").read_text()), {"quota": 0.1, "lifetime": [2, 6]})

    def test_others_are_refused_and_named(self):
        keep_settings(self.folder, {"quota": 0.1, "seed": 7})
        with self.assertRaisesRegex(Differs, r"\(quota was 0.1 and is 0.2\)"):
            keep_settings(self.folder, {"quota": 0.2, "seed": 7})
        with self.assertRaisesRegex(Differs, "think was null and is 0.9"):
            keep_settings(self.folder, {"quota": 0.1, "seed": 7, "think": 0.9})
        self.assertEqual(json.loads((self.folder / "options.json").read_text()), {"quota": 0.1, "seed": 7})

    def test_runs_of_unknown_settings_are_not_added_to(self):
        (self.folder / "session/runs/plb-5-60-0.5-1").mkdir(parents=True)
        with self.assertRaisesRegex(Differs, "no options.json"):
            keep_settings(self.folder, {"quota": 0.1})


class Bed:
    """Plays nothing; what happens to each cell is said by its number of sessions."""

    def __init__(self, output):
        self.output, self.played = output, []

    def play(self, cell):
        self.played.append(cell)
        folder = self.output / cell.folder()
        folder.mkdir(parents=True)
        if cell.terminals == 1:
            raise ValueError("no luck\nand this is why")
        first = self.played.count(cell) == 1
        late = 1.0 if cell.terminals == 4 or (cell.terminals == 2 and first) else 0.0
        left_open = 2 if cell.terminals == 5 and first else 0
        (folder / "run.json").write_text(json.dumps({"late": {"worst": late}, "abandoned": {"queries": 9, "open": left_open}}))
        if cell.terminals == 7 and first:
            raise ValueError("this once")
        return "the router did not end well: why not" if cell.terminals == 6 else None


@unittest.skipUnless(importlib.util.find_spec("psycopg2"), "the experiment itself needs psycopg2")
class Working(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.output = Path(folder.name)
        loader = SourceFileLoader("plb_run", str(Path(__file__).resolve().parent / "run"))
        self.run_script = importlib.util.module_from_spec(importlib.util.spec_from_loader("plb_run", loader))
        loader.exec_module(self.run_script)
        self.bed = Bed(self.output)

    def work_off(self, *terminals, later=(), **more):
        todo = [Cell("session", "plb", 5, t, n / 20, 1) for n, t in enumerate(terminals, 1)]
        todo += [Cell("session", "plb", 5, t, 0.9, 2) for t in later]
        work = self.run_script.Work(todo, self.output, **more)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            work.off(self.bed)
        return work, said.getvalue()

    def test_a_failure_keeps_its_reason_and_leaves_no_run(self):
        work, said = self.work_off(1, 3)
        self.assertEqual((work.failures, len(work.todo)), (1, 0))
        self.assertIn("no luck; more in failures.log; once more later", said)
        self.assertIn("no luck; more in failures.log; given up after 3 tries", said)
        self.assertEqual((self.output / "failures.log").read_text().count("session/runs/plb-5-1-0.05-1\nno luck\nand this is why\n"), 3)
        self.assertEqual([f.name for f in (self.output / "session/runs").iterdir()], ["plb-5-3-0.1-1"])

    def test_what_failed_is_tried_again_at_the_end_of_its_repetition(self):
        work, _ = self.work_off(7, 3, later=[8])
        self.assertEqual([c.terminals for c in self.bed.played], [7, 3, 7, 8])
        self.assertEqual((work.failures, work.gave_up), (0, False))
        self.assertEqual(len(list((self.output / "session/runs").iterdir())), 3)

    def test_failures_between_successes_end_nothing(self):
        work, _ = self.work_off(*[7, 3] * 8)
        self.assertEqual((work.failures, work.gave_up, len(work.todo)), (0, False, 0))
        self.assertEqual(len(self.bed.played), 24)

    def test_a_router_that_ends_badly_does_not_cost_its_run(self):
        work, _ = self.work_off(6)
        self.assertEqual((work.failures, work.in_a_row, len(self.bed.played)), (0, 0, 1))
        self.assertTrue((self.output / "session/runs/plb-5-6-0.05-1/run.json").exists())
        self.assertIn("kept, but the router did not end well: why not", (self.output / "failures.log").read_text())

    def test_a_run_that_left_queries_open_is_disturbed(self):
        work, said = self.work_off(5, 3)
        self.assertEqual([c.terminals for c in self.bed.played], [5, 3, 5])
        self.assertEqual(work.failures, 0)
        self.assertIn("it left 2 queries open; once more later", said)
        self.assertIn("plb-5-5-0.05-1", (self.output / "session/disturbed.csv").read_text())

    def test_gives_up_after_many(self):
        work, _ = self.work_off(*[1] * 9)
        self.assertEqual((work.gave_up, len(self.bed.played), len(work.todo)), (True, 5, 9))

    def test_what_was_disturbed_is_run_again(self):
        work, _ = self.work_off(2, 3)
        self.assertEqual([c.terminals for c in self.bed.played], [2, 3, 2])
        self.assertEqual(work.failures, 0)
        lines = (self.output / "session/load.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["run", "plb-5-3-0.1-1", "plb-5-2-0.05-1"])

    def test_what_is_disturbed_always_is_given_up(self):
        work, said = self.work_off(4, 3)
        self.assertEqual([c.terminals for c in self.bed.played], [4, 3, 4, 4])
        self.assertEqual(work.failures, 1)
        self.assertIn("the machine stood still for 1.0 s; given up after 3 tries", said)
        lines = (self.output / "session/disturbed.csv").read_text().splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["run", *["plb-5-4-0.05-1"] * 3])
        self.assertEqual([f.name for f in (self.output / "session/runs").iterdir()], ["plb-5-3-0.1-1"])

    def test_begins_nothing_that_would_end_too_late(self):
        work, _ = self.work_off(3, 3, seconds=15.0, end=time.monotonic() + 14)
        self.assertEqual((len(self.bed.played), len(work.todo)), (0, 2))
        work, said = self.work_off(3, 3, seconds=15.0, end=time.monotonic() + 100)
        self.assertEqual((len(self.bed.played), len(work.todo)), (2, 0))
        self.assertRegex(said, r"\] 100% 2 of 2, 0 min left: repetition 1")

    def test_a_dry_run_says_how_long_it_takes_and_does_nothing(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.run_script.main(["--dry-run", "--stages", "session", "--output", str(self.output / "none")])
        self.assertIn("310 runs in 5 repetitions, 0 of them there", said.getvalue())
        self.assertFalse((self.output / "none").exists())

    def test_a_quick_look_takes_five_minutes(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.run_script.main(["--dry-run", "--quick", "--beds", "1", "--output", str(self.output / "none")])
        lines = said.getvalue().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn("session        12 runs in 1 repetitions", lines[0])
        self.assertIn("all          5 min", lines[1])

    def test_unknown_stages_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            self.run_script.parse(["--stages", "session,seven"])

    def test_loads_ascend(self):
        self.assertEqual(self.run_script.parse(["--loads", "380,60,240,60"]).loads, [60, 240, 380])

    def test_a_quick_look_may_be_of_other_stages_and_loads(self):
        options = self.run_script.parse(["--quick", "--stages", "six,transaction", "--loads", "20"])
        self.assertEqual((options.stages, options.loads, options.repetitions), (["six", "transaction"], [20], 1))

    def test_settings_have_all_that_a_name_does_not_say(self):
        options = self.run_script.parse([])
        found = self.run_script.settings(options)
        self.assertEqual({k: found[k] for k in ("quota", "scale", "think", "seed", "lifetime", "beds")},
                         {"quota": 0.1, "scale": "0.005", "think": 0.9, "seed": 7, "lifetime": [2, 6], "beds": options.beds})
        self.assertEqual(json.loads(json.dumps(found))["configurations"]["transaction"]["plb"]["max_active"], 2)
        self.assertRegex(found["workload_files"], "^[0-9a-f]{16}$")

    def test_another_build_is_noticed(self):
        options = self.run_script.parse(["--build", str(self.output / "build")])
        self.assertIsNone(self.run_script.settings(options)["sluice"])
        options.sluice.parent.mkdir(parents=True)
        options.sluice.write_bytes(b"one")
        self.run_script.keep_settings(self.output, self.run_script.settings(options))
        self.run_script.keep_settings(self.output, self.run_script.settings(options))
        options.sluice.write_bytes(b"two")
        with self.assertRaisesRegex(self.run_script.Differs, 'sluice was "[0-9a-f]{16}" and is "[0-9a-f]{16}"'):
            self.run_script.keep_settings(self.output, self.run_script.settings(options))

    def bed_with(self, program):
        """A bed without servers, whose sluice is a shell script."""
        options = self.run_script.parse(["--build", str(self.output / "build")])
        options.sluice.parent.mkdir(parents=True)
        options.sluice.write_text("#!/bin/sh\n" + program)
        options.sluice.chmod(0o755)
        bed = self.run_script.Bed.__new__(self.run_script.Bed)
        bed.options, bed.log, bed.front = options, self.output / "bench.log", mock.Mock()
        return bed

    def test_a_bench_that_hangs_is_ended(self):
        begin = time.monotonic()
        with self.assertRaisesRegex(RuntimeError, "bench run ended with nothing after 0.5 s:\nbegun"):
            self.bed_with("echo begun\nexec sleep 30\n").sluice("run", seconds=0.5)
        self.assertLess(time.monotonic() - begin, 10)

    def test_a_bench_that_fails_says_why(self):
        with self.assertRaisesRegex(RuntimeError, "bench run ended with 3:\nno such thing"):
            self.bed_with("echo no such thing\nexit 3\n").sluice("run", seconds=20)

    def play(self, bed, router):
        """The router's configuration."""
        bed.cluster = mock.Mock(standbys=[mock.Mock(host="127.0.0.1", port=n) for n in range(6)], quotas=[mock.Mock()] * 6, directory=self.output)
        with mock.patch("harness.router.Router", return_value=router) as made:
            ended = bed.play(Cell("session", "dedicated_4_1", 5, 380, 0.3, 1))
        return made.call_args.args[1], ended

    def test_a_router_waits_longer_than_its_sessions(self):
        config, ended = self.play(self.bed_with("exit 0\n"), mock.Mock(pid=1, host="h", port=2))
        self.assertEqual((config["server_connect_timeout"], config["server_reset_timeout"], ended), (120, 60, None))

    def test_how_a_router_ended_is_no_failure_of_the_run(self):
        router = mock.Mock(pid=1, host="h", port=2)
        router.stop.side_effect = AssertionError("ended with 1")
        _, ended = self.play(self.bed_with("exit 0\n"), router)
        self.assertEqual(ended, "the router did not end well: ended with 1")

    def test_nor_hides_it_why_the_run_failed(self):
        router = mock.Mock(pid=1, host="h", port=2)
        router.stop.side_effect = AssertionError("ended with 1")
        router.log_text.return_value = "its log"
        with self.assertRaisesRegex(RuntimeError, "(?s)ended with 2:.*did not end well: ended with 1\nthe router's last words:\nits log"):
            self.play(self.bed_with("exit 2\n"), router)


class Signals(unittest.TestCase):
    CODE = ("import os, signal, sys; sys.path.insert(0, sys.argv[1]); from limited_cluster import stop_by_signals; stop_by_signals(); "
            "os.kill(os.getpid(), signal.SIGHUP); print('on')")

    def ended(self, **more):
        words = [sys.executable, "-c", self.CODE, str(Path(__file__).resolve().parents[1])]
        return subprocess.run(words, capture_output=True, text=True, timeout=60, **more)

    @unittest.skipUnless(importlib.util.find_spec("psycopg2"), "the cluster needs psycopg2")
    def test_a_hangup_stops_but_for_who_said_nohup(self):
        done = self.ended(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        self.assertIn("KeyboardInterrupt", done.stderr)
        done = self.ended(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual((done.stdout, done.returncode), ("on\n", 0), done.stderr)


if __name__ == "__main__":
    unittest.main()
