"""sluice bench: data, a measured run through a router, what it writes, and the page made of it."""

import contextlib
import csv
import json
import os
import pty
import re
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness.net import wait_until
from harness.router import BINARY
from test_reports import BROWSER, shown

DEFAULTS = {
    "--workload": "pgbench-like",
    "--scale": "0.01",
    "--terminals": "30",
    "--duration": "3",
    "--warm-up": "1",
    "--lifetime": "0.5,1",
    "--think": "0.02",
    "--premium-share": "0.4",
    "--strategy": "plb",
    "--budget": "5",
    "--seed": "7",
}


def bench(*words, code=0):
    done = subprocess.run([BINARY, "bench", *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def run_words(front, output, flags=(), user=None, **changes):
    """What asks for a run with the usual options; changes as keywords, with _ for -; None leaves an option out."""
    options = DEFAULTS | {"--" + name.replace("_", "-"): value for name, value in changes.items()}
    words = [word for name, value in options.items() if value is not None for word in (name, value)]
    dsn = front.dsn("alice", "app_read") if user is None else front.dsn(user, "app")
    return ["run", "--dsn", dsn, "--output", output, *words, *flags]


def measure(front, output, code=0, **changes):
    """One run: see run_words()."""
    return bench(*run_words(front, output, **changes), code=code)


@contextlib.contextmanager
def begun(*words):
    """`sluice bench` as a process that goes on beside the test, and ends with it at the latest."""
    process = subprocess.Popen([BINARY, "bench", *map(str, words)], stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for_queries(output, name):
    """Until a run that goes on has written some."""
    partial = output / "runs" / f".{name}" / "queries.csv"
    wait_until(lambda: partial.exists() and partial.stat().st_size > 1000, 20, "the run to begin")


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def in_time(session, duration):
    """Whether it was connected while there was time left to ask; to what the times in the file are rounded to."""
    return float(session["arrives"]) + float(session["waiting"]) < duration - 1e-5


@pytest.fixture(scope="module")
def data(cluster):
    """The small tables, on every replica."""
    dsn = cluster.primary.dsn("postgres", "app")
    bench("init", "--workload", "pgbench-like", "--scale", "0.01", dsn)
    cluster.wait_for_replay()
    return dsn


@pytest.fixture
def quiet_router(make_router, base_config):
    """A router of the test's own: nobody else's sessions are in it. Premium may be asked for by alice."""
    first, *others = base_config["classes"]
    return make_router(classes=[{**first, "may_request": ["alice"]}, *others], rules=None)


@pytest.mark.short
def test_a_run_writes_every_session_and_query(quiet_router, cluster, data, tmp_path):
    replicas = [
        word
        for one in cluster.standbys
        for word in ("--replica", f"{one.name}={one.host}:{one.port},pid:{one.pid()}")
    ]
    measure(quiet_router, tmp_path, think="0.1", flags=replicas)
    folder = tmp_path / "runs" / "plb-5-30-0.4-1"
    run, queries, sessions = (
        json.loads((folder / "run.json").read_text()),
        rows(folder / "queries.csv"),
        rows(folder / "sessions.csv"),
    )

    assert len(sessions) == 30 and sum(in_time(s, 3) for s in sessions) > 25
    assert all((s["served"], s["error"]) == (("yes", "") if in_time(s, 3) else ("no", "cut")) for s in sessions)
    assert sum(s["class"] == "premium" for s in sessions) == 12
    assert {s["replica"] for s in sessions} <= {one.name for one in cluster.standbys}
    assert sum(int(s["queries"]) for s in sessions) == len(queries) > 60
    for s in sessions:
        leaves = float(s["arrives"]) + float(s["waiting"]) + float(s["lifetime"])
        assert float(s["ended"]) >= min(leaves, 3) - 0.01, "it stays for its lifetime, also when it only pauses"
    of_session = {s["session"]: s for s in sessions}
    for q in queries:
        assert q["class"] == of_session[q["session"]]["class"]
        assert q["replica"] == of_session[q["session"]]["replica"]
        assert not q["error"] and float(q["response"]) > 0 and q["waiting"] == ""
    measured = [q for q in queries if q["phase"] == "measured"]
    assert all(1 <= float(q["intended"]) < 3 for q in measured)
    assert {q["phase"] for q in queries} == {s["phase"] for s in sessions} == {"warm-up", "measured"}
    assert all((s["phase"] == "measured") == (float(s["arrives"]) >= 1) for s in sessions)

    assert sum(c["queries"] for c in run["classes"]) == run["all"]["queries"] == len(measured)
    for c in run["classes"]:
        times = sorted(float(q["response"]) for q in measured if q["class"] == c["name"])
        assert times[0] <= c["median"] <= c["p95"] <= times[-1] + 1e-6
    assert [r["name"] for r in run["replicas"]] == [one.name for one in cluster.standbys]
    assert all(r["cpu_seconds"] >= 0 for r in run["replicas"]) and 0 < run["utilization"] < 1
    assert {(r["cpu_source"], r["cores_source"]) for r in run["replicas"]} == {("/proc", "all processors of the machine")}
    assert "password" not in (folder / "run.json").read_text()


def test_the_class_that_is_asked_for_is_the_class_that_is_served(quiet_router, data, tmp_path):
    measure(quiet_router, tmp_path, premium_share="1")
    assert quiet_router.metric("sluice_sessions_opened_total", **{"class": "premium"}) >= 30


def test_classes_may_be_told_by_their_users(make_router, data, tmp_path):
    router = make_router()  # alice is premium by a rule, and nobody may ask for it
    measure(router, tmp_path, flags=["--class-users", "premium=alice,freemium=bob"])
    sessions = rows(tmp_path / "runs" / "plb-5-30-0.4-1" / "sessions.csv")
    assert [sum(s["class"] == name for s in sessions) for name in ("premium", "freemium")] == [12, 18]
    assert not any(s["error"] for s in sessions if in_time(s, 3))
    for name, of_the_class in (("premium", 12), ("freemium", 18)):
        opened = router.metric("sluice_sessions_opened_total", **{"class": name})
        assert opened == of_the_class + 1, "and the one with which its user was tried"


def test_the_users_of_both_classes_are_tried_before_anything_runs(quiet_router, data, tmp_path):
    for users, said in (
        ("premium=alice,freemium=nobody", "as nobody, the user of class freemium: "),
        ("premium=nobody,freemium=bob", "as nobody, the user of class premium: "),
        ("freemium=nobody", "as nobody, the user of class freemium: "),
    ):
        errors = measure(quiet_router, tmp_path, code=1, flags=["--class-users", users]).stderr
        assert said in errors and "--class-users takes users whom the router lets in" in errors, errors
        assert not list((tmp_path / "runs").iterdir())
    for users in ("premium", "premium=", "gold=alice"):
        errors = measure(quiet_router, tmp_path, code=1, flags=["--class-users", users]).stderr
        assert "--class-users takes CLASS=USER, with the classes premium and freemium" in errors
    none_of_that_class = {"premium_share": "1", "flags": ["--class-users", "premium=alice,freemium=nobody"]}
    measure(quiet_router, tmp_path, **none_of_that_class)


def test_sessions_say_which_host_they_come_from(make_router, data, tmp_path):
    hosts = [{"name": name, "networks": [f"192.0.2.{i}/32"]} for i, name in enumerate(("a", "b", "c"))]
    router = make_router(hosts=hosts, trust_host_option_users=["alice"])
    measure(router, tmp_path, flags=["--hosts", "a,b"])
    folder = tmp_path / "runs" / "plb-5-30-0.4-1"
    sessions, queries = rows(folder / "sessions.csv"), rows(folder / "queries.csv")
    of_session = {s["session"]: s["host"] for s in sessions}
    assert set(of_session.values()) == {"a", "b"}
    assert all(q["host"] == of_session[q["session"]] for q in queries)
    for name in ("a", "b"):
        asked = sum(q["host"] == name for q in queries) + sum(s["host"] == name and s["replica"] != "" for s in sessions)
        assert router.metric("sluice_host_response_seconds_count", host=name) == asked, "queries, and once who the server is"
    assert router.metric("sluice_host_response_seconds_count", host="c") == 0
    assert json.loads((folder / "run.json").read_text())["run"]["hosts"] == ["a", "b"]


def test_a_run_is_not_repeated_unless_asked_for(quiet_router, data, tmp_path):
    measure(quiet_router, tmp_path)
    place = tmp_path / "runs" / "plb-5-30-0.4-1" / "run.json"
    first = place.read_text()
    assert "is there already" in measure(quiet_router, tmp_path).stdout
    assert place.read_text() == first
    assert "other options" in measure(quiet_router, tmp_path, think="0.5", code=1).stderr
    measure(quiet_router, tmp_path, flags=["--again"])
    assert place.read_text() != first
    measure(quiet_router, tmp_path, repetition="3")
    changed = measure(quiet_router, tmp_path, think="0.5", repetition="2", repeat="2", code=1)
    assert "run plb-5-30-0.4-3 is there, but was asked for with other options" in changed.stderr
    assert not (tmp_path / "runs" / "plb-5-30-0.4-2").exists(), "what is refused is refused before anything runs"


def test_the_same_seed_brings_the_same_sessions(quiet_router, data, tmp_path):
    def plan(output, seed):
        measure(quiet_router, tmp_path / output, seed=seed)
        return [
            (s["class"], s["arrives"], s["lifetime"])
            for s in sorted(rows(tmp_path / output / "runs/plb-5-30-0.4-1/sessions.csv"), key=lambda s: int(s["session"]))
        ]  # fmt: skip

    assert plan("a", 7) == plan("b", 7) != plan("c", 8)


def test_a_pooled_query_tells_its_replica_and_its_wait(make_router, base_config, cluster, data, tmp_path):
    router = make_router(pool_mode="transaction", max_active=1)
    replicas = [w for one in cluster.standbys for w in ("--replica", f"{one.name}={one.host}:{one.port}")]
    measure(router, tmp_path, think="0", flags=["--per-transaction", "--transaction-mode", *replicas])
    folder = tmp_path / "runs" / "plb-5-30-0.4-1"
    queries = rows(folder / "queries.csv")
    assert {q["replica"] for q in queries} == {one.name for one in cluster.standbys}
    by_session = {}
    for q in queries:
        by_session.setdefault(q["session"], set()).add(q["replica"])
    assert any(len(replicas) > 1 for replicas in by_session.values()), "a session is served by more than one"
    assert all(-0.01 < float(q["waiting"]) <= float(q["response"]) + 0.01 for q in queries)
    assert json.loads((folder / "run.json").read_text())["run"]["mode"] == "transaction"


def test_own_files_are_run_and_errors_are_recorded(quiet_router, tmp_path):
    files = tmp_path / "mine"
    files.mkdir()
    (files / "good.sql").write_text("\\set n random(1, 3)\nselect generate_series(1, :n::int)\n")
    (files / "bad.sql").write_text("\\set n random(0, 0)\nselect 1 / :n::int\n")
    measure(quiet_router, tmp_path / "out", workload=None, files=files)
    queries = rows(tmp_path / "out/runs/plb-5-30-0.4-1/queries.csv")
    assert {(q["query"], q["error"]) for q in queries} == {("good", ""), ("bad", "22012")}
    assert {q["rows"] for q in queries if q["query"] == "good"} == {"1", "2", "3"}
    measure(quiet_router, tmp_path / "out", workload=None, files=files, strategy="pooled", flags=["--per-transaction"])
    queries = rows(tmp_path / "out/runs/pooled-5-30-0.4-1/queries.csv")
    assert {(q["query"], q["error"], q["replica"] == "") for q in queries} == {
        ("good", "", False),
        ("bad", "22012", True),
    }
    (files / "good.sql").write_text("\\set n random(1, 2)\nselect generate_series(1, :n::int)\n")
    done = measure(quiet_router, tmp_path / "out", workload=None, files=files, code=1)
    assert "other options" in done.stderr, "the folder's name is the same, and what is in it is not"
    (files / "worse.sql").write_text("select\n  :unknown\n")
    done = measure(quiet_router, tmp_path / "out2", workload=None, files=files, code=1)
    assert "worse.sql:2: unknown parameter :unknown" in done.stderr


def test_a_refused_login_is_told_before_anything_runs(quiet_router, tmp_path):
    done = bench("run", "--dsn", quiet_router.dsn("alice", "app_read", password="wrong"), "-o", tmp_path, code=1)
    assert "cannot connect" in done.stderr and "wrong" not in done.stderr
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_what_was_there(quiet_router, data, tmp_path, how):
    measure(quiet_router, tmp_path)
    whole = (tmp_path / "runs" / "plb-5-30-0.4-1" / "run.json").read_text()
    with begun(*run_words(quiet_router, tmp_path, flags=["--again"], duration="60")) as process:
        wait_for_queries(tmp_path, "plb-5-30-0.4-1")
        process.send_signal(how)
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1 and "interrupted" in errors
    assert [f.name for f in (tmp_path / "runs").iterdir()] == ["plb-5-30-0.4-1"]
    assert (tmp_path / "runs" / "plb-5-30-0.4-1" / "run.json").read_text() == whole


def test_a_server_that_says_nothing_does_not_hold_up_an_interrupt(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(20)
        dsn = f"host=127.0.0.1 port={silent.getsockname()[1]} user=alice dbname=app"
        with begun("run", "--dsn", dsn, "--output", tmp_path) as process:
            connection, _ = silent.accept()
            with connection:
                process.send_signal(signal.SIGINT)
                _, errors = process.communicate(timeout=20)
    assert process.returncode == 1 and "interrupted" in errors


def state(process):
    """As the kernel calls it: T is stopped."""
    return Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


# A client that measures from when it got round to sending would show nothing of this second.
def test_what_the_program_itself_was_late_is_counted_and_in_the_times(quiet_router, data, tmp_path):
    changes = {"terminals": "120", "duration": "6", "warm_up": "0.1", "lifetime": "1,2", "think": "0.2"}
    with begun(*run_words(quiet_router, tmp_path, **changes)) as process:
        wait_for_queries(tmp_path, "plb-5-120-0.4-1")
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: state(process) == "T", 10, "it to be stopped")
        time.sleep(1)  # about twenty sessions are due, and the next queries of those that are there
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    folder = tmp_path / "runs" / "plb-5-120-0.4-1"
    run, queries, sessions = (
        json.loads((folder / "run.json").read_text()),
        rows(folder / "queries.csv"),
        rows(folder / "sessions.csv"),
    )
    assert run["late"]["sessions"] > 0 and run["late"]["queries"] > 0
    assert run["late"]["worst"] > 0.5, "what was due first waited for nearly all of the second"
    assert len(sessions) == 120
    rounding = 1e-5
    for one, time_in_all in [(s, "waiting") for s in sessions] + [(q, "response") for q in queries]:
        assert float(one[time_in_all]) >= float(one["late"]) - rounding, one
    assert sum(float(s["late"]) > 0.1 for s in sessions) > 2, "sessions begin late rather than never"
    times = [float(q["response"]) for q in queries if q["phase"] == "measured" and not q["error"]]
    assert max(times) > 0.5
    assert abs(run["all"]["mean"] - sum(times) / len(times)) < 1e-4, "the summary is of the same times"


def on_terminal(*words):
    """Everything that `sluice bench` writes to a terminal of 80 columns, its standard output and standard error."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [BINARY, "bench", *map(str, words)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    with contextlib.suppress(OSError):  # how a terminal ends that nobody writes to any more
        while part := os.read(ours, 1 << 16):
            seen += part
    os.close(ours)
    assert process.wait(20) == 0, seen
    return seen.decode()


def left_on(terminal):
    """The lines that one sees in the end: a carriage return begins the line again, and ESC [K erases its rest."""
    lines = []
    for line in terminal.split("\r\n"):
        cells = ""
        for part in line.split("\r"):
            text, erased, more = part.partition("\033[K")
            cells = text + more if erased else text + cells[len(text) :]
        lines.append(cells)
    return lines


# The bar once stayed in front of what was printed behind it, stood still at 100% while answers were waited for, and took
# runs that were there already for very quick ones.
def test_a_terminal_shows_how_far_it_has_come(cluster, sleeping, tmp_path):
    asked = {"workload": None, "files": sleeping, "drain": "1", "user": "postgres"}
    measure(cluster.primary, tmp_path, **asked)
    seen = on_terminal(*run_words(cluster.primary, tmp_path, repeat="3", **asked))
    lines = left_on(seen)
    assert "run plb-5-30-0.4-1 is there already; --again repeats it" in lines
    assert {"run plb-5-30-0.4-2", "run plb-5-30-0.4-3"} <= set(lines)
    assert not [line for line in lines if re.search(r"\[[=>]| left", line)]
    assert set(re.findall(r"%  \d+ of (\d+)", seen)) == {"6"}, "the seconds of the two runs that there are to do"
    for percent in ("50", "100"):
        assert re.search(percent + r"%  waiting for answers: [1-9]\d*, 0:0\d at most", seen), seen


def sleepers(server):
    """How many backends of a server sleep for the tests' queries."""
    sql = "select count(*) from pg_stat_activity where state = 'active' and query like '%pg_sleep(33)%' and pid <> pg_backend_pid()"
    return int(server.query(sql, database="app")[0][0])


@pytest.fixture
def sleeping(tmp_path):
    """A folder with a quick query and one that takes longer than any test waits."""
    files = tmp_path / "sleeping"
    files.mkdir()
    (files / "quick.sql").write_text("select 1\n")
    (files / "slow.sql").write_text("select pg_sleep(33)\n")
    return files


def given_up(output, word):
    """(run.json, the queries with that error) of a run that gave queries up, after what holds of all such runs."""
    folder = output / "runs" / "plb-5-30-0.4-1"
    run, queries = json.loads((folder / "run.json").read_text()), rows(folder / "queries.csv")
    assert {(q["query"], q["error"]) for q in queries} == {("quick", ""), ("slow", word)}
    lost = [q for q in queries if q["error"] and q["phase"] == "measured"]
    name = {"cut": "cut", "timeout": "timed_out"}[word]
    assert run["all"]["lost"][name] == sum(run["all"]["lost"].values()) == len(lost) > 0
    assert "mean" in run["all"]["at_least"]
    assert run["abandoned"] == {"queries": sum(q["error"] != "" for q in queries), "open": 0}
    times = sorted(float(q["response"]) for q in queries if q["phase"] == "measured")
    assert abs(run["all"]["mean"] - sum(times) / len(times)) < 1e-4, "what was given up counts with the time that it had taken"
    return run, lost


# Straight to a server, which goes on with a query whose client has gone.
def test_what_is_cut_counts_and_is_cancelled_at_the_server(cluster, sleeping, tmp_path):
    done = measure(cluster.primary, tmp_path, workload=None, files=sleeping, drain="0.5", seed="7", user="postgres")
    assert sleepers(cluster.primary) == 0
    _, lost = given_up(tmp_path, "cut")
    for q in lost:
        assert 3.4 < float(q["intended"]) + float(q["response"]) < 8, "until the drain was over"
    assert " cut, " in done.stdout and ">= " in done.stdout
    bench("report", tmp_path)
    runs = rows(tmp_path / "runs.csv")
    assert sum(int(r["cut"]) for r in runs) == len(lost) and all("mean" in r["at_least"] for r in runs if r["cut"] != "0")


def test_a_query_that_timed_out_counts_and_is_cancelled_at_the_server(cluster, sleeping, tmp_path):
    measure(cluster.primary, tmp_path, workload=None, files=sleeping, query_timeout="0.4", drain="30", user="postgres")
    assert sleepers(cluster.primary) == 0
    _, lost = given_up(tmp_path, "timeout")
    for q in lost:
        assert 0.39 < float(q["response"]) < 5
    sessions = rows(tmp_path / "runs" / "plb-5-30-0.4-1" / "sessions.csv")
    assert sum(s["error"] == "timeout" for s in sessions) > 20
    for s in (s for s in sessions if in_time(s, 3)):
        assert (s["served"], s["error"]) == ("yes", "timeout" if int(s["errors"]) else "")


def test_sessions_that_are_connected_too_late_to_ask_are_cut(make_router, base_config, data, tmp_path):
    first, *others = base_config["classes"]
    classes = [{**first, "may_request": ["alice"]}, *others]
    router = make_router(classes=classes, rules=None, pool_mode="session", max_db_connections=1, query_wait_timeout=60)
    done = measure(router, tmp_path, terminals="12", lifetime="1,1")  # one after the other: three or four of them in time
    folder = tmp_path / "runs" / "plb-5-12-0.4-1"
    run, sessions = json.loads((folder / "run.json").read_text()), rows(folder / "sessions.csv")
    late = [s for s in sessions if s["queries"] == "0"]
    assert 4 <= len(late) < 12
    assert all((s["served"], s["error"]) == ("no", "cut") and not in_time(s, 3) for s in late)
    assert all((s["served"], s["error"]) == ("yes", "") for s in sessions if s not in late)
    measured = sum(s["phase"] == "measured" for s in late)
    assert sum(c["session_waiting"]["lost"]["cut"] for c in run["classes"]) == measured > 0
    assert "never served: 0 timed out" in done.stdout
    done = bench("report", tmp_path)
    assert f"{measured} measured sessions never asked anything, {measured} of them since the run was over first" in done.stdout
    assert sum(int(r["sessions_cut"]) for r in rows(tmp_path / "runs.csv")) == measured


def test_a_router_passes_the_cancel_on(quiet_router, cluster, sleeping, tmp_path):
    measure(quiet_router, tmp_path, workload=None, files=sleeping, drain="0.2")
    assert sum(sleepers(s) for s in cluster.standbys) == 0
    given_up(tmp_path, "cut")


def limited(limit, value):
    """For a child process: a limit of its own, and no end by the signal of that for files."""

    def set_it():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(limit, (value, value))

    return set_it


def refused_by(limit, value, front, output, **changes):
    words = [w for name, v in (DEFAULTS | changes).items() for w in (name, v)]
    done = subprocess.run(
        [BINARY, "bench", "run", "--dsn", front.dsn("alice", "app_read"), "--output", output, *words],
        preexec_fn=limited(limit, value), capture_output=True, text=True, timeout=50,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert not (output / "runs").exists() or not list((output / "runs").iterdir())
    return done.stderr


def test_a_full_disk_ends_the_run_at_once(quiet_router, data, tmp_path):
    said = refused_by(resource.RLIMIT_FSIZE, 20_000, quiet_router, tmp_path, **{"--duration": "100", "--terminals": "1000"})
    assert re.search(r"cannot write .*queries\.csv: File too large", said), said


def test_too_few_descriptors_are_told_before_anything_runs(quiet_router, tmp_path):
    said = refused_by(resource.RLIMIT_NOFILE, 123, quiet_router, tmp_path, **{"--terminals": "40"})
    assert "40 sessions may be open at once and need 144 file descriptors, and this process may have 123" in said


@pytest.mark.parametrize("workload, scale", [("pareto", "0.01"), ("pgbench-like", "0.02")])
def test_a_workload_makes_data_that_passes_its_check(cluster, workload, scale):
    dsn = cluster.primary.dsn("postgres", "app")
    bench("init", "--workload", workload, "--scale", scale, dsn)
    assert "WRONG" not in bench("check", "--workload", workload, "--scale", scale, dsn).stdout
    if workload == "pgbench-like":
        assert "WRONG" in bench("check", "--workload", workload, "--scale", "0.03", dsn, code=1).stdout
        bench("init", "--workload", workload, "--scale", "0.01", dsn)  # what the other tests expect


def test_a_report_compares_strategies_and_a_browser_draws_it(quiet_router, data, tmp_path):
    for strategy in ("round_robin", "plb"):
        for terminals in ("10", "20"):
            measure(
                quiet_router, tmp_path, strategy=strategy, terminals=terminals, duration="1.5", warm_up="0.5", repeat="2"
            )
    done = bench("report", tmp_path)
    assert "Against round_robin:" in done.stdout
    comparisons, runs = rows(tmp_path / "comparisons.csv"), rows(tmp_path / "runs.csv")
    assert len(runs) == 2 * 2 * 2 * 2 and {r["class"] for r in runs} == {"premium", "freemium"}
    assert len(comparisons) == 2 * 2 * 2, "two loads, two classes, median and p95"
    for c in comparisons:
        assert float(c["difference_low"]) <= float(c["difference"]) <= float(c["difference_high"])
        assert 0 <= float(c["p_welch"]) <= 1 and c["paired_change"]
    assert all(r["errors"] == "0" and r["at_least"] == "" for r in runs)
    too_late = all_came = 0
    for r in runs:  # who came in the last moment, before its login was over, and nobody else
        folder = tmp_path / "runs" / f"{r['strategy']}-5-{r['terminals']}-0.4-{r['repetition']}"
        came = [s for s in rows(folder / "sessions.csv") if (s["class"], s["phase"]) == (r["class"], "measured")]
        late = sum(not in_time(s, 1.5) for s in came)
        assert int(r["sessions_lost"]) == int(r["sessions_cut"]) == late
        too_late, all_came = too_late + late, all_came + len(came)
    assert too_late < all_came
    assert all(float(r["session_waiting_p95"]) >= float(r["session_waiting_median"]) > 0 for r in runs)
    assert "premium lost" in done.stdout and "freemium wait" in done.stdout
    page = tmp_path / "report.html"
    charts = page.read_text().count('<script type="application/json">')
    assert charts >= 5
    if BROWSER is None:
        pytest.skip("there is no Chromium here")
    document = shown(page, tmp_path)
    assert document.count("<canvas") == charts
    assert len(re.findall(r"<table>", document)) == 3
