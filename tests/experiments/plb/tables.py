#!/usr/bin/python3
"""Tables of docs/results/plb.md, from what `sluice bench report` wrote.

usage: tests/experiments/plb/tables.py DIR

DIR has the folders session and transaction. Prints Markdown.
"""

import csv
import statistics
import sys
from pathlib import Path

# The paper's, at its T = 1000, which has the utilization of our middle load: (strategy, Premium's share): (u, CV).
PAPER_USE = {
    ("plb", 0.1): (0.69, 0.36), ("plb", 0.9): (0.75, 0.14),
    ("dedicated_4_1", 0.1): (0.35, 0.80), ("dedicated_3_2", 0.9): (0.67, 0.59),
}
PAPER_USE_OF_PLB = "0.80-0.84, CV < 0.12"  # from shares of 0.2 to 0.8


INTERVAL_MAX = 10  # a paired interval that ends above this says nothing: it is of two runs


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mean(values):
    values = list(values)
    return statistics.fmean(values) if values else float("nan")


class Runs:
    """runs.csv: rows per run and class."""

    def __init__(self, folder):
        self.rows = read(folder / "runs.csv")
        self.loads = sorted({int(r["terminals"]) for r in self.rows})

    def at(self, budget, strategy, terminals, share, name=None):
        return [
            r for r in self.rows
            if (int(r["budget"]), r["strategy"], int(r["terminals"])) == (budget, strategy, terminals)
            and abs(float(r["premium_share"]) - share) < 1e-9 and (name is None or r["class"] == name)
        ]

    def value(self, *where, name, key):
        return mean(float(r[key]) for r in self.at(*where, name) if int(r["queries"]) > 0)

    def overall(self, budget, strategy, terminals, share):
        """Mean response time, each class weighing as much as it has sessions. The mean of all queries would favour who lets a class
        wait: it then asks less, and counts less."""
        where = (budget, strategy, terminals, share)
        return share * self.value(*where, name="premium", key="mean") + (1 - share) * self.value(*where, name="freemium", key="mean")

    def errors(self, *where, name):
        rows = self.at(*where, name)
        ended = sum(int(r["queries"]) + int(r["errors"]) for r in rows)
        return sum(int(r["errors"]) for r in rows) / ended if ended else 0.0

    def count(self, *where):
        return len({r["repetition"] for r in self.at(*where)})

    def configurations(self, budget, strategy):
        return sorted({(int(r["terminals"]), float(r["premium_share"])) for r in self.rows
                       if int(r["budget"]) == budget and r["strategy"] == strategy})


class Comparisons:
    """comparisons.csv: a row per strategy, configuration, class and value, against round robin."""

    def __init__(self, folder):
        self.rows = read(folder / "comparisons.csv")

    def at(self, budget, strategy, terminals, share, name, value):
        for r in self.rows:
            if (r["strategy"], int(float(r["terminals"])), r["class"], r["value"]) == (strategy, terminals, name, value) and (
                f"{budget} replicas" in r["group"] and abs(float(r["premium_share"]) - share) < 1e-9
            ):
                return r
        return None


def percent(value):
    return "-" if value in (None, "") else f"{100 * float(value):+.0f}%"


def p_text(row):
    """Of Welch's test; none without two runs on either side."""
    if not row["hedges_g"]:
        return "-"
    p = float(row["p_welch"])
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def against(comparisons, budget, strategy, configurations, name, values=("median", "p95")):
    rows = []
    for terminals, share in configurations:
        row = [terminals, f"{share:g}"]
        for value in values:
            r = comparisons.at(budget, strategy, terminals, share, name, value)
            if r is None:
                row += ["-"] * 4
                continue
            paired = r["paired_low"] and float(r["paired_high"]) < INTERVAL_MAX
            interval = f"{percent(r['paired_low'])} to {percent(r['paired_high'])}" if paired else "-"
            row += [percent(r["change"]), interval, p_text(r), f"{float(r['hedges_g']):.1f}" if r["hedges_g"] else "-"]
        rows.append(row)
    heads = ["T", "share"]
    for value in values:
        heads += [value, "95%, paired", "p", "g"]
    return table(heads, rows)


def summary(comparisons, budget, strategy, configurations, name, value):
    """How many configurations are significantly quicker and slower, and by how much."""
    quicker, slower, all_of = [], [], []
    for terminals, share in configurations:
        r = comparisons.at(budget, strategy, terminals, share, name, value)
        if r is None:
            continue
        change = float(r["change"])
        all_of.append(change)
        if float(r["p_welch"]) < 0.05:
            (quicker if change < 0 else slower).append(change)

    def text(found):
        return f"{len(found)}: median {percent(statistics.median(found))}, {percent(min(found))} to {percent(max(found))}" if found else "none"

    return [len(all_of), text(quicker), text(slower), percent(statistics.median(all_of)) if all_of else "-"]


def strategies(runs, budget, names, loads, shares):
    rows = []
    for terminals in loads:
        for share in shares:
            for strategy in names:
                where = (budget, strategy, terminals, share)
                if not runs.count(*where):
                    continue
                times = [f"{1e3 * runs.value(*where, name=n, key=k):.0f}" for n in ("premium", "freemium") for k in ("median", "p95")]
                rows.append([terminals, f"{share:g}", strategy, *times, f"{1e3 * runs.overall(*where):.0f}",
                             f"{runs.value(*where, name='freemium', key='utilization'):.2f}",
                             f"{runs.value(*where, name='freemium', key='utilization_cv'):.2f}", runs.count(*where)])
    return table(["T", "share", "strategy", "Premium median, ms", "p95", "Freemium median, ms", "p95", "all, mean", "u", "CV(u)", "runs"], rows)


def use(runs, terminals):
    rows = []
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        row = [f"{share:g}"]
        for strategy in ("plb", "round_robin", "dedicated_3_2", "dedicated_4_1"):
            where = (5, strategy, terminals, share)
            if not runs.count(*where):
                row.append("-")
                continue
            text = f"{runs.value(*where, name='freemium', key='utilization'):.2f} / {runs.value(*where, name='freemium', key='utilization_cv'):.2f}"
            paper = PAPER_USE.get((strategy, share))
            row.append(text + (f" ({paper[0]:.2f} / {paper[1]:.2f})" if paper else ""))
        rows.append(row)
    return table(["share", "PLB", "round robin", "3+2", "4+1"], rows)


def span(values):
    """From the least to the greatest change, in per cent."""
    values = sorted(v for v in values if v == v)
    if not values:
        return "-"
    return percent(values[0]) if len(values) == 1 else f"{percent(values[0])} to {percent(values[-1])}"


def claims(runs, comparisons, mixes):
    """The paper's figures, and ours."""
    low, middle, _ = runs.loads

    def change(name, key, strategy, other, share):
        """Of the strategy's value against another one's, at the middle load."""
        value = runs.value(5, strategy, middle, share, name=name, key=key)
        return value / runs.value(5, other, middle, share, name=name, key=key) - 1

    def changes(name, strategy, other, shares):
        return span(change(name, "median", strategy, other, share) for share in shares)

    def significant(name, value):
        count, quicker, slower, _ = summary(comparisons, 5, "plb", mixes, name, value)
        return f"of {count}: quicker {quicker}; slower {slower}"

    def overall(strategy, other, shares):
        return span(runs.overall(5, strategy, middle, share) / runs.overall(5, other, middle, share) - 1 for share in shares)

    def used(strategy, shares):
        return ", ".join(f"{runs.value(5, strategy, middle, s, name='freemium', key='utilization'):.2f} / "
                         f"{runs.value(5, strategy, middle, s, name='freemium', key='utilization_cv'):.2f}" for s in shares)

    light = [runs.value(5, s, low, share, name=n, key="median") / runs.value(5, "round_robin", low, share, name=n, key="median") - 1
             for s in ("plb", "dedicated_3_2") for share in (0.3, 0.5, 0.7) for n in ("premium", "freemium")]
    return table(["figure", "the paper", "here"], [
        ["Premium median against round robin, significant", "26 of 39 quicker, 8-18% (median 11.5%), at most 28.4%", significant("premium", "median")],
        ["Premium p95, significant", "14 of 39 quicker, about 10%, at most 14%; none slower", significant("premium", "p95")],
        ["Freemium median, significant", "28 of 39 slower, about 11%", significant("freemium", "median")],
        ["Freemium p95, significant", "14 of 39 slower, about 7%, at most 15%", significant("freemium", "p95")],
        ["u / CV(u) of PLB, shares 0.3, 0.5, 0.7", "0.80-0.84 / below 0.12", used("plb", (0.3, 0.5, 0.7))],
        ["u / CV(u) of PLB, share 0.1", "0.69 / 0.36", used("plb", (0.1,))],
        ["u / CV(u) of 4+1, share 0.1", "0.35 / 0.80", used("dedicated_4_1", (0.1,))],
        ["u / CV(u) of PLB, share 0.9", "0.75 / 0.14", used("plb", (0.9,))],
        ["u / CV(u) of 3+2, share 0.9", "0.67 / 0.59", used("dedicated_3_2", (0.9,))],
        ["Premium few (0.1, 0.3): Premium median of 3+2 against PLB", "-17% to -8%", changes("premium", "dedicated_3_2", "plb", (0.1, 0.3))],
        ["... of 4+1", "-25% to -12%", changes("premium", "dedicated_4_1", "plb", (0.1, 0.3))],
        ["Premium many (0.7, 0.9): Premium median of PLB against 3+2", "up to -16%", changes("premium", "plb", "dedicated_3_2", (0.7, 0.9))],
        ["Freemium many (0.1, 0.3): Freemium median of PLB against 3+2", "-17% to -14%", changes("freemium", "plb", "dedicated_3_2", (0.1, 0.3))],
        ["... against 4+1", "-30% to -25%", changes("freemium", "plb", "dedicated_4_1", (0.1, 0.3))],
        ["Premium many (0.7, 0.9): Freemium median of 3+2 against PLB", "-25% to -20%", changes("freemium", "dedicated_3_2", "plb", (0.7, 0.9))],
        ["all sessions, share 0.1: mean of 3+2 against PLB", "above +30%", overall("dedicated_3_2", "plb", (0.1,))],
        ["all sessions, mean of PLB against round robin, shares 0.3 to 0.7", "close", overall("plb", "round_robin", (0.3, 0.5, 0.7))],
        ["light load: medians of PLB and 3+2 against round robin", "nearly equal", span(light)],
    ])


def transaction(runs, comparisons, names):
    rows = []
    for terminals, share in runs.configurations(5, "round_robin"):
        base = runs.overall(5, "round_robin", terminals, share)
        for strategy in names:
            where = (5, strategy, terminals, share)
            if not runs.count(*where):
                continue
            row = [terminals, f"{share:g}", strategy]
            for name, value in (("premium", "median"), ("premium", "p95"), ("freemium", "median"), ("freemium", "p95")):
                r = comparisons.at(*where, name, value)
                row.append("-" if r is None else percent(r["change"]))
            row += [percent(runs.overall(*where) / base - 1), f"{100 * runs.errors(*where, name='freemium'):.1f}%", runs.count(*where)]
            rows.append(row)
    return table(["T", "share", "strategy", "Premium median", "p95", "Freemium median", "p95", "all, mean", "Freemium refused", "runs"], rows)


def main(folder):
    runs, comparisons = Runs(folder / "session"), Comparisons(folder / "session")
    of_plb = runs.configurations(5, "plb")
    mixes = [c for c in of_plb if c[1] in (0.3, 0.5, 0.7)]
    print(f"## The paper's figures (its T = 1000; ours {runs.loads[1]})\n")
    print(claims(runs, comparisons, mixes))
    print("## Premium under PLB against round robin\n")
    print(against(comparisons, 5, "plb", of_plb, "premium"))
    print("## Freemium under PLB against round robin\n")
    print(against(comparisons, 5, "plb", of_plb, "freemium"))
    print("## Summary over the mixes\n")
    print(table(["strategy", "class", "value", "configurations", "significantly quicker", "significantly slower", "median of all"],
                [[s, n, v, *summary(comparisons, 5, s, mixes, n, v)] for s in ("plb", "dedicated_3_2", "dedicated_4_1", "least_loaded", "proportional")
                 for n in ("premium", "freemium") for v in ("median", "p95")]))
    print(f"## u / CV(u) at the middle load (in brackets: the paper's; its PLB at shares of 0.2 to 0.8: {PAPER_USE_OF_PLB})\n")
    print(use(runs, runs.loads[1]))
    print("## All strategies\n")
    names = ["plb", "round_robin", "dedicated_3_2", "dedicated_4_1", "least_loaded", "proportional"]
    print(strategies(runs, 5, names, runs.loads, [0.1, 0.3, 0.5, 0.7, 0.9]))
    print("## Six replicas\n")
    print(strategies(runs, 6, ["plb", "round_robin", "dedicated_4_2"], runs.loads, [0.3, 0.5, 0.7]))
    if (folder / "transaction/runs.csv").exists():
        print("## Transaction mode against round robin in transaction mode\n")
        print(transaction(Runs(folder / "transaction"), Comparisons(folder / "transaction"), ["class_queue", "class_shortest", "budgets", "plb"]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
