"""What the runs of the experiment say: means beside each other, ratios with intervals, as text and as a page. No clock, no file."""

import math
import statistics
from html import escape

BASE = "round robin, no limit"
MAIN = "sita_e, fcfs"
WARM_UP = 1 / 8  # of a run's time, from an empty system on, does not count
SMALL, LARGE = 10, 50  # units of work: below, and from
ROUNDS_MIN = 6  # for an interval: with fewer, how much rounds differ is anybody's guess


class Run:
    """One arm in one round, or in several as pooled() makes it: slowdown and waiting of each arrival that counts."""

    def __init__(self, samples, seconds, idle):
        """Of (due seconds after the beginning, kind, size, response in seconds). `idle`: seconds of a size on an idle replica. What is
        quicker than that stays below 0: it makes up for what is slower by no more than chance."""
        self.by_kind = {}
        self.all, self.small, self.large, self.waits = [], [], [], []
        for due, kind, size, response in samples:
            if due < seconds * WARM_UP:
                continue
            wait = response - idle(size)
            slowdown = wait / idle(size)
            self.waits.append(wait)
            self.all.append(slowdown)
            self.by_kind.setdefault(kind, []).append(slowdown)
            if size < SMALL:
                self.small.append(slowdown)
            if size >= LARGE:
                self.large.append(slowdown)

    @classmethod
    def pooled(cls, runs):
        one = cls([], 0, None)
        for run in runs:
            for mine, its in ((one.all, run.all), (one.small, run.small), (one.large, run.large), (one.waits, run.waits)):
                mine.extend(its)
            for kind, values in run.by_kind.items():
                one.by_kind.setdefault(kind, []).extend(values)
        return one

    def summary(self):
        if not self.all:
            raise ValueError("a run without arrivals that count")
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


def ratio_of_means(pairs):
    """(sum of the second over sum of the first, low, high) at 95%, of one pair per round: the jackknife on the ratio's logarithm, which
    leaves out one round after the other, with Student's t. A bootstrap of so few rounds has intervals that are too short.
    None where there is too little, or no ratio."""
    count = len(pairs)
    if count < ROUNDS_MIN:
        return None
    base, other = (math.fsum(column) for column in zip(*pairs))
    without = [(base - a, other - b) for a, b in pairs]
    if min(base, other, *(min(rest) for rest in without)) <= 0:
        return None
    logs = [math.log(b / a) for a, b in without]
    middle = statistics.fmean(logs)
    half = student(count - 1) * math.sqrt((count - 1) / count * sum((value - middle) ** 2 for value in logs))
    found = math.log(other / base)
    return tuple(math.exp(value) for value in (found, found - half, found + half))


def ratio(base, other):
    """ratio_of_means() of slowdown over all arrivals. Lists of Runs, round by round; both had the same arrivals in each."""
    if [len(run.all) for run in base] != [len(run.all) for run in other]:
        raise ValueError("arms of a round that had not the same arrivals")
    return ratio_of_means([(math.fsum(one.all), math.fsum(two.all)) for one, two in zip(base, other)])


def ratios(results):
    """{arm: ratio against BASE}"""
    return {name: ratio(results[BASE], runs) for name, runs in results.items() if name != BASE} if BASE in results else {}


def table_rows(results):
    """Heads, and a row of text per arm. `results`: {arm: [Run]}, of the same rounds each"""
    heads = ["arm", "mean slowdown", "times round robin's, 95%", "median", "95th percentile", "mean waiting, ms", "of small", "of large"]
    against = ratios(results)
    rows = []
    for name, runs in results.items():
        if not runs:
            continue
        whole, each = Run.pooled(runs).summary(), [run.summary() for run in runs]

        def cell(key, factor=1.0):
            values = [one[key] * factor for one in each if one[key] is not None]
            if not values:
                return "-"
            spread = f" ({min(values):.3g} to {max(values):.3g})" if len(values) > 1 else ""
            return f"{whole[key] * factor:.3g}{spread}"

        found = against.get(name)
        rows.append([
            name, cell("mean_slowdown"), f"{found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f})" if found else "-",
            cell("median_slowdown"), cell("p95_slowdown"), cell("mean_wait_seconds", 1e3), cell("small_slowdown"), cell("large_slowdown"),
        ])  # fmt: skip
    return heads, rows


def verdict(results):
    """What the experiment was made for, in words that follow from the numbers alone."""
    base, main = results.get(BASE, []), results.get(MAIN, [])
    found = ratio(base, main) if base and main else None
    if found is None:
        return (
            f"Too little was measured to compare first come first served under sita_e with time-sharing: {len(main)} whole rounds, "
            f"and an interval needs {ROUNDS_MIN}."
        )
    one, two = Run.pooled(base).summary(), Run.pooled(main).summary()
    what = (
        f"Over all {two['count']} arrivals of {len(main)} rounds, the mean slowdown is {two['mean_slowdown']:.3g} under *{MAIN}* and "
        f"{one['mean_slowdown']:.3g} under *{BASE}*, which had the same arrivals: {found[0]:.2f} times as much "
        f"(95% interval of this ratio of means {found[1]:.2f} to {found[2]:.2f}). "
    )
    if found[2] < 1:
        return what + "In the mean, size intervals beat time-sharing here."
    if found[1] > 1:
        return what + "In the mean, size intervals do worse than time-sharing here."
    return what + "The interval has 1 in it: neither is shown to be better."


def markdown(results, settings):
    heads, rows = table_rows(results)
    lines = [
        "# Sizes on real PostgreSQL",
        "",
        verdict(results),
        "",
        f"Transaction mode; {settings['replicas']} streaming replicas with {settings['quota']:g} of a processor each; Poisson arrivals, "
        f"{settings['rate']:.0f} a second (load {settings['load']:g}); sizes bounded Pareto, alpha {settings['alpha']:g}, the largest "
        f"{settings['largest'] / settings['smallest']:g} times the smallest, rounded to {settings['kinds']} kinds; a unit of work takes "
        f"{settings['unit'] * 1e3:.2f} ms where the quota holds it up, and a statement {settings['overhead'] * 1e3:.2f} ms besides, which counts in "
        f"the load. {settings['rounds']} rounds of {settings['seconds']:g} s, of which the first "
        "eighth does not count; all arms of a round get the same arrivals, in random order of arms. A limit is `max_active: 1` for each replica.",
        "",
        "| " + " | ".join(heads) + " |",
        "|" + " --- |" * len(heads),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        "*Slowdown* is response time over the time that work of the same size takes on an idle replica whose quota is full, less one. That time is "
        f"measured for each size: from {settings['idle_ms'][0]:.2f} ms for the smallest to {settings['idle_ms'][-1]:.0f} ms for the largest. Small work is done "
        "before the quota ends and large work is not, so it is not in proportion to size. Nothing is cut off: an arrival that was quicker than that "
        "has a slowdown below 0. Numbers are over all arrivals of all rounds; in brackets the least and the greatest round. "
        f"Small is below {SMALL} units, large from {LARGE} on. Ratios to *{BASE}* are of these means; their intervals are of the jackknife over whole "
        f"rounds, with Student's t, and given from {ROUNDS_MIN} rounds on.",
        "",
        f"Load average of the machine at the beginning and the end of the runs: {settings['load_average'][0]:.1f}, {settings['load_average'][1]:.1f} "
        f"on {settings['processors']} processors, which client and router share with the replicas. The client was late by {settings['late'] * 1e3:.0f} ms at most: "
        "a run in which it is later than 200 ms is made again.",
        "",
        "Page with charts: [sizes/index.html](sizes/index.html). All numbers: `sizes/tables.json`; every arrival: `sizes/samples.csv.gz`. "
        "Repeated by `tests/experiments/sizes/run`.",
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
    return {kind: statistics.fmean(values) for kind, values in sorted(Run.pooled(runs).by_kind.items())}


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
    rows = [(name, value) for name, value in ratios(results).items() if value is not None]
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
