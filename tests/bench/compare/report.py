"""The comparison as Markdown: medians over the rounds, and ratios taken within each round and then their
median."""

import os
import platform
import statistics

COLUMNS = {
    "pgbench": [
        ("tps", "transactions/s", "{:,.0f}", True),
        ("p50_us", "p50 us", "{:,.0f}", False),
        ("p99_us", "p99 us", "{:,.0f}", False),
        ("cpu_us", "CPU us/transaction", "{:.1f}", True),
        ("rss_mib", "RSS MiB", "{:.1f}", False),
    ],
    "saturated": [
        ("tps", "transactions/s", "{:,.0f}", True),
        ("p50_us", "p50 us", "{:,.0f}", False),
        ("p99_us", "p99 us", "{:,.0f}", False),
        ("p99_to_p50", "p99/p50", "{:.2f}", False),
        ("rss_mib", "RSS MiB", "{:.1f}", False),
    ],
    "idle": [
        ("kib_per_session", "KiB per session", "{:.2f}", True),
        ("idle_cpu_percent", "CPU % while idle", "{:.2f}", False),
    ],
    "result": [
        ("mib_per_second", "MiB/s", "{:,.0f}", True),
        ("cpu_s_per_gib", "CPU s/GiB", "{:.2f}", True),
        ("rss_growth_mib", "RSS growth MiB", "{:.2f}", False),
    ],
}


def ratio(rounds, contender, key):
    """Median over the rounds of contender / PgBouncer, or None."""
    name, base = contender.name, contender.base
    pairs = [(r[name][key], r[base][key]) for r in rounds if name in r and base in r and r[base][key] > 0]
    return statistics.median(a / b for a, b in pairs) if pairs else None


def table(group, title, rounds, contenders):
    head, lines = ["contender"], []
    for _, label, _, with_ratio in COLUMNS[group]:
        head += [label] + (["x PgBouncer"] if with_ratio else [])
    for contender in contenders:
        values = [r[contender.name] for r in rounds if contender.name in r]
        if not values:
            continue
        cells = [contender.title]
        for key, _, form, with_ratio in COLUMNS[group]:
            measured = not (
                contender.name == "direct" and key not in ("tps", "p50_us", "p99_us", "mib_per_second")
            )
            cells.append(form.format(statistics.median(v[key] for v in values)) if measured else "")
            if with_ratio:
                found = ratio(rounds, contender, key) if measured else None
                cells.append("" if found is None else f"{found:.2f}")
        lines.append(cells)
    rows = [head, ["---"] + ["---:"] * (len(head) - 1), *lines]
    return f"### {title}\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def machine():
    model = next(
        (
            line.split(":")[1].strip()
            for line in open("/proc/cpuinfo", encoding="utf-8")
            if line.startswith("model name")
        ),
        "?",
    )
    memory = next(
        int(line.split()[1]) >> 20
        for line in open("/proc/meminfo", encoding="utf-8")
        if line.startswith("MemTotal")
    )
    return f"{os.cpu_count()} x {model}, {memory} GiB, Linux {platform.release()}"


def markdown(command, versions, results, contenders, loads, notes):
    parts = [
        "# Sluice beside PgBouncer and HAProxy\n",
        "All contenders in front of the same PostgreSQL 15 standby, in one run, interleaved, each number the median of the rounds. Ratios are taken "
        "within a round, where the machine is in the same mood, and are what to quote; absolute figures drift.\n",
        f"    {command}\n",
        f"Machine: {machine()}. {', '.join(versions)}. {notes}\n",
        "CPU is user and system time of all threads of the proxy's process. HAProxy does not take part in the protocol: no authentication, no pooling; "
        "TLS passes through it to the server. PgBouncer is single-threaded.\n",
    ]
    for group, entries in loads.items():
        for key, (title, _) in entries.items():
            if results.get(key):
                parts.append(table(group, title, results[key], contenders))
    return "\n".join(parts)
