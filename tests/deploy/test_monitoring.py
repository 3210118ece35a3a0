"""Alert rules and dashboard: valid, and about metrics, labels and label values that the program has."""

import json
import re
import subprocess
import sys

import pytest
import yaml

from promql import ROOT, Table, expressions, labels_of, problems, without_variables
from tools import run_tool

RULES = ROOT / "deploy/prometheus/sluice.rules.yaml"
DASHBOARD = ROOT / "deploy/grafana/sluice.json"


@pytest.fixture(scope="module")
def table():
    made = Table()
    assert len(made.kinds) > 60 and len(made.values) > 20
    return made


@pytest.fixture(scope="module")
def rules():
    return [rule for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]


@pytest.fixture(scope="module")
def recorded(rules, table):
    found = {}
    for rule in rules:
        if "record" in rule:
            found[rule["record"]] = labels_of(rule["expr"], table, found)
    return found


@pytest.fixture(scope="module")
def dashboard():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def promtool(*arguments):
    return run_tool("promtool", "prometheus", *arguments)


def test_the_checker_finds_what_does_not_exist(table):
    assert list(problems("sluice_replica_down == 0", table, {}))
    assert list(problems('sluice_replica_up{class="a"} == 0', table, {}))
    assert list(problems('rate(sluice_reloads_total{result="bad"}[5m])', table, {}))
    assert list(problems('rate(sluice_errors_total{sqlstate_class=~"53|ZZ"}[5m])', table, {}))
    assert list(problems("sum by (host) (sluice_replica_up)", table, {}))
    assert list(problems("rate(sluice_response_seconds[5m])", table, {})), "a histogram has no series of its own name"
    assert not list(problems("sum by (job, le) (rate(sluice_response_seconds_bucket[5m]))", table, {}))


def test_rules_name_only_what_exists(rules, table, recorded):
    wrong = [(rule.get("alert") or rule["record"], problem) for rule in rules for problem in problems(rule["expr"], table, recorded)]
    assert not wrong


def test_every_alert_says_what_to_do_in_words_it_has(rules, table, recorded):
    names = [rule["alert"] for rule in rules if "alert" in rule]
    assert len(names) == len(set(names)) > 25
    for rule in rules:
        if "alert" not in rule:
            continue
        assert rule["labels"]["severity"] in ("page", "warning", "info"), rule["alert"]
        summary = rule["annotations"]["summary"]
        assert len(summary) > 40 and (":" in summary or "?" in summary), rule["alert"]
        used = set(re.findall(r"\$labels\.([a-z_]+)", " ".join(rule["annotations"].values())))
        assert used <= labels_of(rule["expr"], table, recorded), rule["alert"]


def test_promtool_accepts_the_rules():
    done = promtool("check", "rules", "--lint=all", "--lint-fatal", str(RULES))
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_fire_when_they_should_and_not_otherwise():
    done = promtool("test", "rules", str(ROOT / "tests/deploy/rules_test.yaml"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dashboard_is_what_its_script_writes():
    done = subprocess.run([sys.executable, str(ROOT / "deploy/grafana/make_dashboard.py"), "--check"], timeout=30, check=False)
    assert done.returncode == 0, "run deploy/grafana/make_dashboard.py"


def test_the_dashboard_names_only_what_exists(dashboard, table):
    wrong = [(title, problem) for title, expr in expressions(dashboard) for problem in problems(expr, table, {})]
    assert not wrong


def test_promtool_can_read_every_expression_of_the_dashboard(dashboard, tmp_path):
    rules = [{"record": f"panel:{i}", "expr": without_variables(expr)} for i, (_, expr) in enumerate(expressions(dashboard))]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), encoding="utf-8")
    done = promtool("check", "rules", str(file))
    assert done.returncode == 0, done.stdout + done.stderr


def test_legends_name_labels_that_are_left(dashboard, table):
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            expr = re.sub(r"^topk\(10, ", "", target["expr"])
            used = set(re.findall(r"\{\{([a-z_]+)\}\}", target["legendFormat"])) - {"le"}
            assert used <= labels_of(expr, table, {}), (panel["title"], target["legendFormat"])


def test_the_dashboard_is_laid_out_for_grafana(dashboard):
    assert dashboard["uid"] == "sluice" and dashboard["schemaVersion"] >= 38 and "__inputs" not in dashboard
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken = {}
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert (x, y) not in taken, f"{panel['title']} lies on {taken.get((x, y))}"
                taken[x, y] = panel["title"]
        if panel["type"] != "row":
            assert panel["description"] and panel["targets"] and panel["datasource"]["uid"] == "${datasource}"
    defined = {variable["name"] for variable in dashboard["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]+)\}?", json.dumps(panels)))
    assert used <= defined


def test_dashboard_and_alerts_show_what_matters(dashboard, rules, table):
    """A metric may be left out on purpose, but these questions have an answer in both."""
    for text in (json.dumps(dashboard), json.dumps(rules)):
        for metric in ("replica_up", "sessions_waiting", "wait_seconds", "sessions_rejected_total", "response_seconds", "replica_lag_seconds",
                       "server_connection_failures_total", "reloads_total", "sessions_pinned_total", "reads_sent_to_primary_total", "listening_reconnects_total", "budget_refusals_total",
                       "cancels_total", "cluster_source_up", "replica_timeline", "placer_host_up", "placer_routes", "placer_profile_age_seconds"):
            assert f"sluice_{metric}" in text, metric
