#!/usr/bin/env python3
"""Writes sluice.json, the Grafana dashboard: the panels stand in ROWS below, everything else follows from them.

usage: deploy/grafana/make_dashboard.py [--check]     --check writes nothing and ends with 1 when the file differs
"""

import json
import sys
from pathlib import Path

TARGET = Path(__file__).with_name("sluice.json")
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDTH = 24

# Filters: job and instance choose routers and placers, the others narrow a picture down.
ROUTER = 'job=~"$job",instance=~"$instance"'
CLASS = ROUTER + ',class=~"$class"'
REPLICA = ROUTER + ',replica=~"$replica"'


def quantile(q, metric, by, selector):
    return f"histogram_quantile({q}, sum by ({by}, le) (rate({metric}_bucket{{{selector}}}[$__rate_interval])))"


def rate(metric, by, selector=ROUTER):
    return f"sum by ({by}) (rate({metric}{{{selector}}}[$__rate_interval]))"


def total(metric, by, selector=ROUTER):
    return f"sum by ({by}) ({metric}{{{selector}}})"


def target(expr, legend, instant=False, form="time_series"):
    return {
        "datasource": DATASOURCE,
        "expr": expr,
        "legendFormat": legend,
        "instant": instant,
        "range": not instant,
        "format": form,
        "editorMode": "code",
    }


def panel(kind, title, what, targets, unit, width, height, defaults=None, options=None, transformations=None, overrides=None):
    made = {
        "type": kind,
        "title": title,
        "description": what,
        "datasource": DATASOURCE,
        "targets": [dict(t, refId=chr(ord("A") + i)) for i, t in enumerate(targets)],
        "fieldConfig": {"defaults": {"unit": unit, **(defaults or {})}, "overrides": overrides or []},
        "options": options or {},
        "gridPos": {"w": width, "h": height},
    }
    if transformations:
        made["transformations"] = transformations
    return made


def lines(title, what, *targets, unit="short", width=8, height=8, stacked=False):
    custom = {"drawStyle": "line", "lineWidth": 1, "fillOpacity": 25 if stacked else 5, "showPoints": "never", "spanNulls": False}
    if stacked:
        custom["stacking"] = {"mode": "normal", "group": "A"}
    options = {
        "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return panel("timeseries", title, what, targets, unit, width, height, {"min": 0, "custom": custom}, options)


def number(title, what, expr, unit="short", red_above=None, red_below=None, width=4):
    steps = [{"color": "green", "value": None}]
    if red_above is not None:
        steps.append({"color": "red", "value": red_above})
    if red_below is not None:
        steps = [{"color": "red", "value": None}, {"color": "green", "value": red_below}]
    defaults = {"thresholds": {"mode": "absolute", "steps": steps}, "color": {"mode": "thresholds"}, "noValue": "-"}
    options = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "area"}
    return panel("stat", title, what, [target(expr, "")], unit, width, 4, defaults, options)


def states(title, what, expr, legend, off, on, width=12, height=8, on_color="green", off_color="red"):
    words = {"0": {"text": off, "color": off_color}, "1": {"text": on, "color": on_color}}
    defaults = {
        "custom": {"fillOpacity": 80, "lineWidth": 0},
        "mappings": [{"type": "value", "options": words}],
        "color": {"mode": "thresholds"},
        "thresholds": {"mode": "absolute", "steps": [{"color": off_color, "value": None}, {"color": on_color, "value": 1}]},
    }
    options = {"showValue": "never", "mergeValues": True, "rowHeight": 0.8, "legend": {"showLegend": False}}
    return panel("state-timeline", title, what, [target(expr, legend)], "short", width, height, defaults, options)


def matrix(title, what, expr, rows, columns, unit, width=12, height=8):
    """A table coloured by value: one label down, another across."""
    defaults = {
        "custom": {"align": "center", "cellOptions": {"type": "color-background", "mode": "gradient"}},
        "color": {"mode": "continuous-GrYlRd"},
        "noValue": "-",
    }
    transformations = [
        {"id": "groupingToMatrix", "options": {"rowField": rows, "columnField": columns, "valueField": "Value", "emptyValue": "null"}}
    ]
    return panel("table", title, what, [target(expr, "", instant=True, form="table")], unit, width, height, defaults, {"showHeader": True}, transformations)


def heat(title, what, expr, width=12, height=8):
    options = {
        "calculate": False,
        "yAxis": {"unit": "s", "axisPlacement": "left"},
        "color": {"mode": "scheme", "scheme": "Oranges", "scale": "exponential", "exponent": 0.5, "steps": 64},
        "cellGap": 1,
        "tooltip": {"show": True, "yHistogram": True},
        "legend": {"show": True},
    }
    return panel("heatmap", title, what, [target(expr, "{{le}}", form="heatmap")], "s", width, height, options=options)


ROWS = [
    ("At a glance", [
        number("Replicas that take sessions", "Up and not draining, as the router that sees fewest does.",
               f"min(sum by (instance) (sluice_replica_up{{{ROUTER}}} and on (instance, replica) (sluice_replica_draining{{{ROUTER}}} == 0)))", red_below=1),
        number("Sessions", "Sessions that have a replica.", f"sum(sluice_sessions{{{ROUTER}}})"),
        number("Waiting", "Sessions that wait for a replica.", f"sum(sluice_sessions_waiting{{{ROUTER}}})", red_above=1),
        number("Queries per second", "Queries completed, well or not.", f"sum(rate(sluice_queries_total{{{ROUTER}}}[$__rate_interval]))", unit="ops"),
        number("Turned away per second", "Clients refused before they had a session.",
               f"sum(rate(sluice_sessions_rejected_total{{{ROUTER}}}[$__rate_interval]))", unit="ops", red_above=0.01),
        number("Reloads refused, last day", "Configurations that were not taken.", f'sum(increase(sluice_reloads_total{{{ROUTER},result="failed"}}[1d]))', red_above=1),
    ]),
    ("Sessions and pools", [
        lines("Sessions by class", "Sessions that have a replica.", target(total("sluice_sessions", "class", CLASS), "{{class}}"), stacked=True),
        lines("Sessions by replica", "Of the chosen classes.",
              target(total("sluice_sessions", "replica", CLASS + ',replica=~"$replica"'), "{{replica}}"), stacked=True),
        matrix("Sessions now, class by replica", "Where the sessions of each class are.", total("sluice_sessions", "class, replica", CLASS), "replica", "class", "short", width=8),
        lines("Replicas in each pool", "As the policy has assigned them; of several routers, their mean.",
              target(f"sum by (pool) (avg by (pool, replica) (sluice_replica_in_pool{{{ROUTER}}}))", "{{pool}}"), stacked=True),
        lines("Borrowed and given back", "Replicas per second, by class and the pool they came from or went to.",
              target(rate("sluice_borrowings_total", "class, pool", CLASS), "{{class}} from {{pool}}"),
              target(rate("sluice_returns_total", "class, pool", CLASS), "{{class}} back to {{pool}}"), unit="ops"),
        states("Borrowed replicas", "While a pool has the replica by borrowing.", f"max by (replica) (sluice_replica_borrowed{{{REPLICA}}})", "{{replica}}", "own", "borrowed", width=8,
               on_color="orange", off_color="blue"),
        lines("Assignments by outcome", "fallback: the class had no room left; refused: no replica at all.",
              target(rate("sluice_decisions_total", "class, outcome", CLASS), "{{class}} {{outcome}}"), unit="ops"),
        lines("Sessions opened", "Per second.", target(rate("sluice_sessions_opened_total", "class", CLASS), "{{class}}"), unit="ops"),
        lines("Sessions ended", "Per second, by what ended them.", target(rate("sluice_sessions_closed_total", "reason"), "{{reason}}"), unit="ops"),
    ]),
    ("Response times", [
        lines("Response time by class, median and p95", "From when the server had the work until it was done, without the time the client did not read.",
              target(quantile(0.5, "sluice_response_seconds", "class", CLASS), "{{class}} p50"),
              target(quantile(0.95, "sluice_response_seconds", "class", CLASS), "{{class}} p95"), unit="s"),
        lines("Response time by class, p99", "One in a hundred takes longer.", target(quantile(0.99, "sluice_response_seconds", "class", CLASS), "{{class}} p99"), unit="s"),
        lines("Response time by pool, p95", "Of the pool that the replica was in.", target(quantile(0.95, "sluice_response_seconds", "pool", CLASS), "{{pool}} p95"), unit="s"),
        heat("Response times", "Of the chosen classes.", f"sum by (le) (increase(sluice_response_seconds_bucket{{{CLASS}}}[$__rate_interval]))"),
        lines("Work by database", "Queries and transactions per second.",
              target(rate("sluice_queries_total", "database"), "{{database}} queries"),
              target(rate("sluice_transactions_total", "database"), "{{database}} transactions"), unit="ops", width=12),
    ]),
    ("Waiting and turning away", [
        lines("Sessions waiting", "Now, by class.", target(total("sluice_sessions_waiting", "class", CLASS), "{{class}}"), stacked=True),
        lines("Wait for a replica", "Of those that got one.",
              target(quantile(0.5, "sluice_wait_seconds", "class", CLASS), "{{class}} p50"),
              target(quantile(0.99, "sluice_wait_seconds", "class", CLASS), "{{class}} p99"), unit="s"),
        lines("Turned away", "Per second, by the limit or reason.", target(rate("sluice_sessions_rejected_total", "reason"), "{{reason}}"), unit="ops"),
        lines("From accept to ready", "p95 of the time from accepting a client to its first ReadyForQuery.",
              target(quantile(0.95, "sluice_session_start_seconds", "class", CLASS), "{{class}}"), unit="s"),
        lines("Logins", "Per second, by method and result.", target(rate("sluice_logins_total", "method, result"), "{{method}} {{result}}"), unit="ops"),
        lines("Client connections", "Logged in or not.",
              target(total("sluice_client_connections", "instance"), "{{instance}}"),
              target(total("sluice_unauthenticated_connections", "instance"), "{{instance}} not logged in")),
    ]),
    ("Transaction mode, LISTEN and budgets", [
        lines("Sessions that keep their server", "Per second, by what pinned them; in transaction mode.", target(rate("sluice_sessions_pinned_total", "reason"), "{{reason}}"), unit="ops"),
        lines("Reads that the primary ran", "Per second: no replica had replayed what the session wrote, or none was there.",
              target(rate("sluice_reads_sent_to_primary_total", "database"), "{{database}}"), unit="ops"),
        lines("Cancel requests", "Per second, by what became of them.", target(rate("sluice_cancels_total", "result"), "{{result}}"), unit="ops"),
        lines("Who listens", "Sessions that listen, and the server connections that do it for them.",
              target(total("sluice_listening_sessions", "instance"), "{{instance}} sessions"),
              target(total("sluice_listening_connections", "instance"), "{{instance}} connections")),
        lines("Notifications handed on", "Per second, one for each session.", target(rate("sluice_notifications_total", "database"), "{{database}}"), unit="ops"),
        lines("Listening connections lost", "Per hour; what was notified in between nobody heard.",
              target(f"sum by (instance) (increase(sluice_listening_reconnects_total{{{ROUTER}}}[1h]))", "{{instance}}")),
        lines("Slots that budgets have", "Now, and on average over budget_window.",
              target(total("sluice_budget_active", "budget"), "{{budget}} now"),
              target(total("sluice_budget_busy", "budget"), "{{budget}} on average")),
        lines("Waiting, by budget", "Those that wait for a slot now.", target(total("sluice_budget_waiting", "budget"), "{{budget}}"), stacked=True),
        lines("Beyond their budget", "Per second: refused, or let through with mode warn.",
              target(rate("sluice_budget_refusals_total", "budget, verdict"), "{{budget}} {{verdict}}"), unit="ops"),
    ]),
    ("Servers", [
        states("Health", "By the router's checks.", f"min by (replica) (sluice_replica_up{{{REPLICA}}})", "{{replica}}", "down", "up"),
        states("Draining", "DRAIN on the console.", f"max by (replica) (sluice_replica_draining{{{REPLICA}}})", "{{replica}}", "in use", "draining", on_color="orange", off_color="green"),
        lines("Replay lag, time", "Age of the oldest WAL not replayed.", target(f"max by (replica) (sluice_replica_lag_seconds{{{REPLICA}}})", "{{replica}}"), unit="s"),
        lines("Replay lag, bytes", "WAL not replayed.", target(f"max by (replica) (sluice_replica_lag_bytes{{{REPLICA}}})", "{{replica}}"), unit="bytes"),
        lines("Round trip of SELECT 1", "Median over a warm connection.",
              target(f'avg by (replica) (sluice_replica_probe_seconds{{{REPLICA},statistic="median"}})', "{{replica}}"), unit="s"),
        lines("Server connections opened and reused", "Per second.",
              target(rate("sluice_server_connections_opened_total", "replica", REPLICA), "{{replica}} opened"),
              target(rate("sluice_server_connections_reused_total", "replica", REPLICA), "{{replica}} reused"), unit="ops"),
        lines("Time to open a server connection", "p95, login included.", target(quantile(0.95, "sluice_server_connect_seconds", "replica", REPLICA), "{{replica}}"), unit="s"),
        lines("Server connections that failed", "Per second, by reason.",
              target(rate("sluice_server_connection_failures_total", "replica, reason", REPLICA), "{{replica}} {{reason}}"), unit="ops"),
        lines("Kept server connections", "Idle, for a next session.", target(total("sluice_server_connections_idle", "replica", REPLICA), "{{replica}}"), stacked=True),
        lines("Bytes from servers", "Per second.", target(rate("sluice_server_received_bytes_total", "replica", REPLICA), "{{replica}}"), unit="Bps"),
        states("Is there a primary", "One that sessions are sent to.", f"min by (instance) (sluice_primary_known{{{ROUTER}}})", "{{instance}}", "none", "known", width=8),
        states("Who tells where the servers are", "Patroni, and names that are looked up.",
               f"min by (source) (sluice_cluster_source_up{{{ROUTER}}})", "{{source}}", "silent", "answers", width=8),
        lines("Age of the view of the cluster", "Time since the last answer.", target(f"max by (source) (sluice_cluster_view_age_seconds{{{ROUTER}}})", "{{source}}"), unit="s"),
        lines("Timelines", "One that stays behind has not followed a promotion.", target(f"max by (replica) (sluice_replica_timeline{{{REPLICA}}})", "{{replica}}")),
        lines("Errors from servers", "Per second, by the first two characters of SQLSTATE.", target(rate("sluice_errors_total", "sqlstate_class") + " > 0", "{{sqlstate_class}}"), unit="ops"),
    ]),
    ("Hosts and routes", [
        matrix("Round trip, host by server", "What one SELECT 1 costs from the host on the server: client leg and server leg.",
               f"avg by (host, replica) (sluice_rtt_seconds{{{REPLICA}}})", "host", "replica", "s"),
        lines("Round trip to hosts", "Client leg, from TCP_INFO.", target(f'avg by (host) (sluice_host_rtt_seconds{{{ROUTER},statistic="estimate"}})', "{{host}}"), unit="s", width=6),
        lines("Sessions by host", "The compute host they came from.", target(total("sluice_host_sessions", "host"), "{{host}}"), width=6, stacked=True),
        lines("Calls by route, the ten busiest", "Calls per second that name the route or belong to a trace of it.", target(f'topk(10, {rate("sluice_route_calls_total", "route")})', "{{route}}"), unit="ops"),
        lines("Response time of calls, p95", "The ten slowest routes.", target(f'topk(10, {quantile(0.95, "sluice_route_response_seconds", "route", ROUTER)})', "{{route}}"), unit="s"),
        lines("Serial calls per request", "N_serial, mean.", target(f'avg by (route) (sluice_route_serial_calls{{{ROUTER},statistic="mean"}})', "{{route}}")),
        lines("Errors by route", "Calls per second in which the server sent an error.", target(rate("sluice_route_errors_total", "route"), "{{route}}"), unit="ops", width=12),
        lines("Calls without a trace", "Above 0.1 the route's N_serial is not relied on.", target(f"max by (route) (sluice_route_untraced_ratio{{{ROUTER}}})", "{{route}}"), unit="percentunit", width=12),
    ]),
    ("Placer", [
        lines("Requests by host", "Per second.", target(rate("sluice_placer_requests_total", "host"), "{{host}}"), unit="reqps", stacked=True),
        lines("Requests by status", "none: the client got no answer.", target(rate("sluice_placer_requests_total", "status"), "{{status}}"), unit="reqps", stacked=True),
        lines("Response time by host, median and p95", "From when the placer turned to the host to the response's last byte.",
              target(quantile(0.5, "sluice_placer_response_seconds", "host", ROUTER), "{{host}} p50"),
              target(quantile(0.95, "sluice_placer_response_seconds", "host", ROUTER), "{{host}} p95"), unit="s"),
        matrix("Where routes go", "Share of each route's requests by host, last five minutes.",
               f"sum by (route, host) (rate(sluice_placer_route_requests_total{{{ROUTER}}}[5m])) / ignoring (host) group_left () sum by (route) (rate(sluice_placer_route_requests_total{{{ROUTER}}}[5m]))",
               "route", "host", "percentunit"),
        lines("Routes by what is missing", "nothing: the wanted policy is followed.", target(total("sluice_placer_routes", "policy, missing"), "{{policy}}, missing {{missing}}"), stacked=True, width=12),
        states("Compute hosts", "By health checks and requests.", f"min by (host) (sluice_placer_host_up{{{ROUTER}}})", "{{host}}", "down", "up", width=8),
        lines("The way to hosts", "Median time of a request for the health page.", target(f"avg by (host) (sluice_placer_path_seconds{{{ROUTER}}})", "{{host}}"), unit="s"),
        lines("Failures and further attempts", "Per second.",
              target(rate("sluice_placer_host_failures_total", "host, reason"), "{{host}} {{reason}}"),
              target(rate("sluice_placer_retries_total", "host"), "{{host}} tried again"), unit="ops"),
        lines("Requests in flight", "By host.", target(total("sluice_placer_requests_in_flight", "host"), "{{host}}"), stacked=True),
        lines("Refused by the placer", "Per second, by reason.", target(rate("sluice_placer_refusals_total", "reason"), "{{reason}}"), unit="ops"),
        lines("Age of the profile", "Beyond profile_max_age it is not believed.", target(f"max by (instance) (sluice_placer_profile_age_seconds{{{ROUTER}}})", "{{instance}}"), unit="s"),
    ]),
    ("Process", [
        lines("Uptime", "Falls to zero at a restart.", target(f"sluice_uptime_seconds{{{ROUTER}}}", "{{instance}}"), unit="s"),
        lines("Log lines left out", "Repeats, per second.", target(rate("sluice_log_lines_suppressed", "instance"), "{{instance}}"), unit="ops"),
        lines("Reloads", "Per hour, by result.", target(f"sum by (instance, result) (increase(sluice_reloads_total{{{ROUTER}}}[1h]))", "{{instance}} {{result}}")),
    ]),
]


def variable(name, query, label):
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": DATASOURCE,
        "definition": query,
        "query": {"query": query, "refId": name},
        "includeAll": True,
        "multi": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "refresh": 2,
        "sort": 1,
    }


def placed(rows):
    """Panels left to right, rows below each other, ids in order."""
    panels, y, count = [], 0, 0
    for title, members in rows:
        count += 1
        panels.append({"type": "row", "title": title, "id": count, "collapsed": False, "gridPos": {"x": 0, "y": y, "w": WIDTH, "h": 1}, "panels": []})
        y += 1
        x = height = 0
        for member in members:
            place = member["gridPos"]
            if x + place["w"] > WIDTH:
                x, y, height = 0, y + height, 0
            count += 1
            panels.append({**member, "id": count, "gridPos": {"x": x, "y": y, **place}})
            x += place["w"]
            height = max(height, place["h"])
        y += height
    return panels


def dashboard():
    variables = [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": {}, "hide": 0},
        variable("job", "label_values(sluice_build_info, job)", "Job"),
        variable("instance", 'label_values(sluice_build_info{job=~"$job"}, instance)', "Instance"),
        variable("class", 'label_values(sluice_sessions{job=~"$job"}, class)', "Class"),
        variable("replica", 'label_values(sluice_replica_up{job=~"$job"}, replica)', "Replica"),
    ]
    started = {
        "name": "Starts",
        "enable": True,
        "hide": False,
        "iconColor": "blue",
        "datasource": DATASOURCE,
        "expr": f"resets(sluice_uptime_seconds{{{ROUTER}}}[1m]) > 0",
        "titleFormat": "{{instance}} started",
        "step": "30s",
    }
    return {
        "uid": "sluice",
        "title": "Sluice",
        "description": "Router and placer: sessions, response times, waiting, servers, hosts, routes.",
        "tags": ["sluice", "postgresql"],
        "schemaVersion": 38,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": [started]},
        "templating": {"list": variables},
        "panels": placed(ROWS),
        "links": [],
    }


def main():
    text = json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n"
    if sys.argv[1:] == ["--check"]:
        return 0 if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text else 1
    if sys.argv[1:]:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
