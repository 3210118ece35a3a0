"""What the runs of the experiment say: means beside each other, ratios with intervals, as text and as a page. No clock, no file."""

import math
import statistics
from html import escape

BASE = "round robin, no limit"
MAIN = "sita_e, fcfs"
PARTS = 8  # of a run's time; the first, from an empty system on, does not count
SMALL, LARGE = 10, 50  # units of work: below, and from


class Run:
    """One arm in one round: (due seconds after the beginning, kind, size, response in seconds) of each arrival."""

    def __init__(self, samples, seconds, unit):
        counted = [one for one in samples if one[0] >= seconds / PARTS]
        self.parts = [[] for _ in range(PARTS - 1)]
        self.by_kind = {}
        self.all, self.small, self.large, self.waits = [], [], [], []
        for due, kind, size, response in counted:
            # Above what the same work takes on an idle replica; what is below is the calibration's error.
            wait = max(0.0, response - size * unit)
            slowdown = wait / (size * unit)
            self.waits.append(wait)
            self.all.append(slowdown)
            self.parts[min(PARTS - 2, int(due / seconds * PARTS) - 1)].append(slowdown)
            self.by_kind.setdefault(kind, []).append(slowdown)
            if size < SMALL:
                self.small.append(slowdown)
            if size >= LARGE:
                self.large.append(slowdown)

    def summary(self):
        ordered = sorted(self.all)
        return {
            "count": len(ordered),
            "mean_slowdown": statistics.fmean(ordered),
            "median_slowdown": statistics.median(ordered),
            "p95_slowdown": ordered[int(0.95 * len(ordered))],
            "mean_wait_seconds": statistics.fmean(self.waits),
            "small_slowdown": mean_or_none(self.small),
            "large_slowdown": mean_or_none(self.large),
        }


def mean_or_none(values):
    return statistics.fmean(values) if values else None


def student(freedom):
    """The 0.975 quantile, by the expansion of Fisher and Cornish around the normal one: to 0.5% from 4 degrees on."""
    z = statistics.NormalDist().inv_cdf(0.975)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def ratio(base, other):
    """(of mean slowdowns, low, high) at 95%: geometric mean over the parts of all rounds, which had the same arrivals in both.
    Lists of Runs, round by round. None where there is too little."""
    logs = [
        math.log(statistics.fmean(b) / statistics.fmean(a))
        for one, two in zip(base, other)
        for a, b in zip(one.parts, two.parts)
        if a and b and statistics.fmean(a) > 0 and statistics.fmean(b) > 0
    ]
    if len(logs) < 5:
        return None
    half = student(len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    middle = statistics.fmean(logs)
    return tuple(math.exp(v) for v in (middle, middle - half, middle + half))


def table_rows(results):
    """Heads, and a row of text per arm. `results`: {arm: [Run]}"""
    heads = ["arm", "mean slowdown", "against round robin, 95%", "median", "95th percentile", "mean waiting, ms", "of small", "of large"]

    def cell(summaries, key, factor=1.0):
        values = [one[key] * factor for one in summaries if one[key] is not None]
        if not values:
            return "-"
        spread = f" ({min(values):.3g}-{max(values):.3g})" if len(values) > 1 else ""
        return f"{statistics.fmean(values):.3g}{spread}"

    rows = []
    for name, runs in results.items():
        if not runs:
            continue
        summaries = [run.summary() for run in runs]
        against = ratio(results[BASE], runs) if name != BASE else None
        rows.append([
            name, cell(summaries, "mean_slowdown"), f"{against[0]:.2f} ({against[1]:.2f}-{against[2]:.2f})" if against else "-",
            cell(summaries, "median_slowdown"), cell(summaries, "p95_slowdown"), cell(summaries, "mean_wait_seconds", 1e3),
            cell(summaries, "small_slowdown"), cell(summaries, "large_slowdown"),
        ])  # fmt: skip
    return heads, rows


def verdict(results):
    """What the experiment was made for, in a sentence that follows from the numbers alone."""
    found = ratio(results[BASE], results[MAIN])
    if found is None:
        return "Too little was measured to compare first come first served under sita_e with time-sharing."
    what = f"The mean slowdown under *{MAIN}* is {found[0]:.2f} times that of *{BASE}* (95% interval {found[1]:.2f} to {found[2]:.2f})"
    if found[2] < 1:
        return what + ": size intervals beat time-sharing."
    if found[1] > 1:
        return what + ": size intervals do worse than time-sharing."
    return what + ": no difference beyond chance."


def markdown(results, settings):
    heads, rows = table_rows(results)
    lines = [
        "# Sizes on real PostgreSQL",
        "",
        verdict(results),
        "",
        f"Transaction mode; {settings['replicas']} streaming replicas with {settings['quota']:g} of a processor each; Poisson arrivals, "
        f"{settings['rate']:.0f} a second (load {settings['load']:g}); sizes bounded Pareto, alpha {settings['alpha']:g}, the largest "
        f"{settings['largest'] / settings['smallest']:g} times the smallest, rounded to {settings['kinds']} kinds; one unit of work takes "
        f"{settings['unit'] * 1e3:.2f} ms on an idle replica. {settings['rounds']} rounds of {settings['seconds']:g} s, of which the first eighth does "
        "not count; all arms of a round get the same arrivals, in random order of arms. A limit is `max_active: 1` for each replica.",
        "",
        "| " + " | ".join(heads) + " |",
        "|" + " --- |" * len(heads),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        "*Slowdown* is response time over that of the same work on an idle replica, less one, and not below 0; in brackets the least and the greatest round. "
        f"Small is below {SMALL} units, large from {LARGE} on. Ratios to *{BASE}* are geometric means over sevenths of a round with Student's interval: "
        "both arms had the same arrivals in each.",
        "",
        f"Load average of the machine at the beginning and the end of the runs: {settings['load_average'][0]:.1f}, {settings['load_average'][1]:.1f} "
        f"on {settings['processors']} processors. Client and router share these with the replicas.",
        "",
        "Page with charts: [sizes/index.html](sizes/index.html). All numbers: `sizes/tables.json`; every arrival: `sizes/samples.csv.gz`. "
        "Repeated by [tests/experiments/sizes/run](../../tests/experiments/README.md).",
    ]
    return "\n".join(lines) + "\n"


COLOURS = ["#6b7280", "#8a7a1f", "#d9722e", "#b5488f", "#3b6fd4", "#2f9e6e"]
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #d8dee4; }
.scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3; } th, td { border-color: #30363d; } }
"""


def by_kind(runs):
    """{kind: mean slowdown} over all rounds."""
    together = {}
    for run in runs:
        for kind, values in run.by_kind.items():
            together.setdefault(kind, []).extend(values)
    return {kind: statistics.fmean(values) for kind, values in sorted(together.items())}


def kinds_plot(results, kinds):
    """Mean slowdown over the size, both logarithmic."""
    width, height, left, bottom, right = 760, 380, 50, 40, 210
    curves = {name: by_kind(runs) for name, runs in results.items() if runs}
    values = [v for curve in curves.values() for v in curve.values() if v > 0] or [1.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)

    def x(kind):
        return left + (width - left - right) * kind / max(1, kinds - 1)

    def y(value):
        return height - bottom - (height - bottom - 15) * (math.log10(value) - low) / (high - low)

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Mean slowdown by size of the work">']
    for power in range(low, high + 1):
        parts.append(
            f'<line x1="{left}" x2="{width - right}" y1="{y(10.0**power):.1f}" y2="{y(10.0**power):.1f}" stroke="#8884"/>'
            f'<text x="{left - 8}" y="{y(10.0**power) + 4:.1f}" font-size="12" text-anchor="end" fill="currentColor">{10.0**power:g}</text>'
        )
    for i, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        points = " ".join(f"{x(kind):.1f},{y(value):.1f}" for kind, value in curve.items() if value > 0)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        top = 30 + 22 * i
        parts.append(
            f'<line x1="{width - right + 10}" x2="{width - right + 30}" y1="{top}" y2="{top}" stroke="{colour}" stroke-width="3"/>'
            f'<text x="{width - right + 36}" y="{top + 4}" font-size="13" fill="currentColor">{escape(name)}</text>'
        )
    parts.append(f'<text x="{left}" y="{height - 6}" font-size="12" fill="currentColor">kinds of work, from the smallest to the largest; mean slowdown</text></svg>')
    return "".join(parts)


def ratios_plot(results):
    """Intervals of the mean slowdown against time-sharing."""
    rows = [(name, ratio(results[BASE], runs)) for name, runs in results.items() if name != BASE and runs]
    rows = [(name, value) for name, value in rows if value is not None]
    if not rows:
        return ""
    width, step, left = 760, 30, 210
    low = math.log(min(0.5, *(v[1] for _, v in rows)))
    high = math.log(max(2.0, *(v[2] for _, v in rows)))
    height = step * len(rows) + 40

    def x(value):
        return left + (width - left - 30) * (math.log(value) - low) / (high - low)

    parts = [
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Mean slowdown against {escape(BASE)}">',
        f'<line x1="{x(1):.1f}" x2="{x(1):.1f}" y1="5" y2="{height - 30}" stroke="#888"/>',
    ]
    for i, (name, value) in enumerate(rows):
        middle = 20 + step * i
        parts.append(
            f'<text x="4" y="{middle + 4}" font-size="13" fill="currentColor">{escape(name)}</text>'
            f'<line x1="{x(value[1]):.1f}" x2="{x(value[2]):.1f}" y1="{middle}" y2="{middle}" stroke="#3b6fd4" stroke-width="3"/>'
            f'<circle cx="{x(value[0]):.1f}" cy="{middle}" r="5" fill="#3b6fd4"/>'
        )
    parts.append(
        f'<text x="{left}" y="{height - 6}" font-size="12" fill="currentColor">'
        f"mean slowdown over that of {escape(BASE)} (the line), with 95% intervals; to the left is better</text></svg>"
    )
    return "".join(parts)


def page(results, settings):
    heads, rows = table_rows(results)
    table = "<tr>" + "".join(f"<th scope=col>{escape(h)}</th>" for h in heads) + "</tr>"
    for first, *rest in rows:
        table += f"<tr><th scope=row>{escape(first)}</th>" + "".join(f"<td>{escape(cell)}</td>" for cell in rest) + "</tr>"
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Sizes on real PostgreSQL</title><style>{STYLE}</style></head><body><main><h1>Sizes on real PostgreSQL</h1>"
        f"<p>{escape(verdict(results)).replace('*', '')}</p>{ratios_plot(results)}<h2>By size</h2>{kinds_plot(results, settings['kinds'])}"
        f"<h2>All arms</h2><div class=scroll tabindex=0 role=region aria-label='All arms'><table>{table}</table></div>"
        "<p>How it was measured: sizes.md beside this folder. Every arrival: samples.csv.gz.</p></main></body></html>\n"
    )
