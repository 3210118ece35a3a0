#!/usr/bin/python3
"""Tables of docs/results/plb.md, from what `sluice bench report` wrote.

usage: tests/experiments/plb/tables.py DIR

DIR is what `run` wrote: options.json and the folders session and transaction. Only runs of those options count. Prints Markdown.

">=" in front of a time: a lower bound, as it rests on one, or as more than a few percent of the class's sessions never asked anything. In front of
a change: of such a time against one that is none; "<=": the other way round; "?": of two such times.
"""

import csv
import statistics
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
from objectives import Change, bound_mark, each_configuration, objectives, p_text, target  # noqa: E402
from settings import read_settings  # noqa: E402

# The paper's, at its T = 1000, which has the utilization of our middle load: (strategy, Premium's share): (u, CV).
PAPER_USE = {
    ("plb", 0.1): (0.69, 0.36), ("plb", 0.9): (0.75, 0.14),
    ("dedicated_4_1", 0.1): (0.35, 0.80), ("dedicated_3_2", 0.9): (0.67, 0.59),
}
PAPER_USE_OF_PLB = "0.80-0.84, CV < 0.12"  # from shares of 0.2 to 0.8

REFUSED = "53300"  # SQLSTATE of what the router refuses for want of room
NEVER_ASKED_MAX = 0.05  # of a class's sessions: some come less than a login before a run's end; beyond that its times are of who got in early
INTERVAL_MAX = 10  # a paired interval that ends above this says nothing: it is of two runs


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def mean(values):
    values = list(values)
    return statistics.fmean(values) if values else float("nan")


class Runs:
    """runs.csv: rows per run and class, of one kind of runs."""

    def __init__(self, folder, settings):
        self.folder = folder
        self.rows = [r for r in read(folder / "runs.csv")
                     if (r["workload"], r["scale"], r["mode"]) == (settings["workload"], str(settings["scale"]), folder.name)]
        if not self.rows:
            raise SystemExit(f"tables: {folder} has no runs of {settings['workload']} at scale {settings['scale']}")
        self.loads = sorted({int(r["terminals"]) for r in self.rows})
        self.asked = {}  # (run, class): (sessions that never asked anything, all)

    @property
    def middle(self):
        return self.loads[len(self.loads) // 2]

    @property
    def contended(self):
        """From the middle load on; the lightest is there to show what there is without contention."""
        return [t for t in self.loads if t >= self.middle]

    def at(self, budget, strategy, terminals, share, name=None):
        return [
            r for r in self.rows
            if (int(r["budget"]), r["strategy"], int(r["terminals"])) == (budget, strategy, terminals)
            and abs(float(r["premium_share"]) - share) < 1e-9 and (name is None or r["class"] == name)
        ]

    def values(self, *where, name, key):
        return [float(r[key]) for r in self.at(*where, name) if self.samples(r) > 0]

    def pairs(self, budget, strategies, *where, name, key):
        """A list for each of the strategies: the values of the repetitions that all of them have."""
        of_each = [{r["repetition"]: float(r[key]) for r in self.at(budget, s, *where, name) if self.samples(r) > 0} for s in strategies]
        common = sorted(set.intersection(*map(set, of_each)))
        return [[values[repetition] for repetition in common] for values in of_each]

    @staticmethod
    def samples(row):
        """Response times in a row: of what ended well, and lower bounds of what was given up."""
        return int(row["queries"]) + int(row["timed_out"]) + int(row["cut"])

    def value(self, *where, name, key):
        return mean(self.values(*where, name=name, key=key))

    def overall(self, budget, strategy, terminals, share, weight=None):
        """Mean response time, each class weighing as much as it has sessions, or Premium as `weight` says. The mean of all queries would
        favour who lets a class wait: it then asks less, and counts less."""
        where = (budget, strategy, terminals, share)
        premium = share if weight is None else weight
        return premium * self.value(*where, name="premium", key="mean") + (1 - premium) * self.value(*where, name="freemium", key="mean")

    def run_folder(self, row):
        return self.folder / "runs" / "-".join([*(row[key] for key in ("strategy", "budget", "terminals")), f"{float(row['premium_share']):g}",
                                                row["repetition"]])

    def sessions_of(self, row):
        """(how many measured sessions of the row's class never asked anything, how many came), from sessions.csv: also of runs whose bench
        counted those as served that were connected when it was too late to ask."""
        key = (self.run_folder(row), row["class"])
        if key not in self.asked:
            came = [int(s["queries"]) for s in read(key[0] / "sessions.csv") if (s["class"], s["phase"]) == (row["class"], "measured")]
            self.asked[key] = (came.count(0), len(came))
        return self.asked[key]

    def never_asked(self, *where, name):
        """The share of the class's measured sessions that never asked anything, for whatever reason. No time knows of them."""
        counts = [self.sessions_of(r) for r in self.at(*where, name)]
        came = sum(all_of for _, all_of in counts)
        return sum(silent for silent, _ in counts) / came if came else 0.0

    def bound(self, *where, name, key):
        """Whether a time is a lower bound, since it rests on one or on the sessions that got in early. Utilization is none."""
        if key not in ("mean", "median", "p95", "p99"):
            return False
        return self.never_asked(*where, name=name) > NEVER_ASKED_MAX or any(key in r["at_least"].split() for r in self.at(*where, name))

    def overall_bound(self, *where):
        return any(self.bound(*where, name=name, key="mean") for name in ("premium", "freemium"))

    def change(self, name, key, strategy, other, terminals, share, budget=5):
        """Of the strategy's value against another one's."""
        ours, others = ((budget, s, terminals, share) for s in (strategy, other))
        return Change(self.value(*ours, name=name, key=key) / self.value(*others, name=name, key=key) - 1,
                      at_least=self.bound(*ours, name=name, key=key), at_most=self.bound(*others, name=name, key=key))

    def overall_change(self, strategy, other, terminals, share, weight=None):
        ours, others = ((5, s, terminals, share) for s in (strategy, other))
        return Change(self.overall(*ours, weight=weight) / self.overall(*others, weight=weight) - 1,
                      at_least=self.overall_bound(*ours), at_most=self.overall_bound(*others))

    def left_open(self, *where):
        """Queries that went on at a server when their run was over, for nobody and beside the next run."""
        return sum(int(r["abandoned_open"]) for r in self.at(*where, "premium"))

    def waiting(self, *where, name):
        """Of a session until it is served: not in any response time."""
        return mean(float(r["session_waiting_mean"]) for r in self.at(*where, name)
                    if int(r["sessions_served"]) + int(r["sessions_timed_out"]) + int(r["sessions_cut"]) > 0)

    def lost(self, *where, name):
        """(share of the queries, of the sessions) that were not served, whatever the reason."""
        rows = self.at(*where, name)
        queries, sessions = sum(int(r["errors"]) for r in rows), sum(int(r["sessions_lost"]) for r in rows)
        asked, came = queries + sum(int(r["queries"]) for r in rows), sessions + sum(int(r["sessions_served"]) for r in rows)
        return queries / asked if asked else 0.0, sessions / came if came else 0.0

    def failed(self, *where):
        """Queries and sessions that ended with an error, whichever."""
        return sum(int(r["errors"]) + int(r["sessions_failed"]) for r in self.at(*where))

    def refused(self, *where, name):
        """(share of the queries that were refused, and that failed otherwise), by the codes in queries.csv."""
        asked = refused = failed = 0
        for row in self.at(*where, name):
            for query in read(self.run_folder(row) / "queries.csv"):
                if query["class"] == name and query["phase"] == "measured":
                    asked += 1
                    refused += query["error"] == REFUSED
                    failed += query["error"] not in ("", REFUSED)
        return (refused / asked, failed / asked) if asked else (0.0, 0.0)

    def count(self, *where):
        return len({r["repetition"] for r in self.at(*where)})

    def configurations(self, budget, strategy):
        return sorted({(int(r["terminals"]), float(r["premium_share"])) for r in self.rows
                       if int(r["budget"]) == budget and r["strategy"] == strategy})


class Comparisons:
    """comparisons.csv: a row per strategy, configuration, class and value, against round robin."""

    def __init__(self, folder, settings):
        self.rows = read(folder / "comparisons.csv")
        self.mode, self.settings = folder.name, settings

    def group(self, budget):
        s = self.settings
        return (f"{s['workload']} at scale {s['scale']}, {budget} replicas, {self.mode} mode, {s['duration']:g} s, "
                f"think time {s['think']} s")

    def at(self, budget, strategy, terminals, share, name, value):
        for r in self.rows:
            if (r["strategy"], int(float(r["terminals"])), r["class"], r["value"]) == (strategy, terminals, name, value) and (
                r["group"] == self.group(budget) and abs(float(r["premium_share"]) - share) < 1e-9
            ):
                return r
        return None


def percent(value):
    return "-" if value in (None, "") else f"{100 * float(value):+.0f}%"


def tested(row):
    """p of Welch's test, and Holm's; none without two runs on either side."""
    if not row["hedges_g"] or not row["p_welch"]:
        return "-"
    return f"{p_text(float(row['p_welch']))} ({p_text(float(row['p_holm']))})"


def sides(runs, row, budget):
    """Whether the strategy's value in a comparison is a lower bound, and the baseline's."""
    where = int(float(row["terminals"])), float(row["premium_share"])
    return [row.get("at_least") in (side, "both") or runs.bound(budget, strategy, *where, name=row["class"], key=row["value"])
            for side, strategy in (("strategy", row["strategy"]), ("baseline", row["baseline"]))]


def change_text(runs, row, budget):
    return bound_mark(*sides(runs, row, budget)) + percent(row["change"])


def table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    lines += ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def against(runs, comparisons, budget, strategy, configurations, name, values=("median", "p95")):
    rows = []
    for terminals, share in configurations:
        row, lost, silent = [terminals, f"{share:g}"], "-", "-"
        for value in values:
            r = comparisons.at(budget, strategy, terminals, share, name, value)
            if r is not None:
                lost = " / ".join(f"{100 * float(r[key]):.1f}%" for key in ("lost_share", "baseline_lost_share"))
                silent = " / ".join(f"{100 * runs.never_asked(budget, s, terminals, share, name=name):.1f}%" for s in (strategy, r["baseline"]))
            if r is None:
                row += ["-"] * 4
                continue
            paired = r["paired_low"] and float(r["paired_high"]) < INTERVAL_MAX
            interval = f"{percent(r['paired_low'])} to {percent(r['paired_high'])}" if paired else "-"
            row += [change_text(runs, r, budget), interval, tested(r), f"{float(r['hedges_g']):.1f}" if r["hedges_g"] else "-"]
        rows.append([*row, lost, silent])
    heads = ["T", "share"]
    for value in values:
        heads += [value, "95%, paired", "p (Holm)", "g"]
    return table([*heads, "queries lost, of both", "never asked, of both"], rows)


def summary(runs, comparisons, budget, strategy, configurations, name, value):
    """How many configurations are significantly quicker and slower, and by how much, and of how many the change rests on a lower bound."""
    quicker, slower, all_of, bounds = [], [], [], 0
    for terminals, share in configurations:
        r = comparisons.at(budget, strategy, terminals, share, name, value)
        if r is None:
            continue
        change = float(r["change"])
        all_of.append(change)
        bounds += any(sides(runs, r, budget))
        if r["p_welch"] and float(r["p_welch"]) < 0.05:
            (quicker if change < 0 else slower).append(change)

    def text(found):
        return f"{len(found)}: median {percent(statistics.median(found))}, {percent(min(found))} to {percent(max(found))}" if found else "none"

    return [len(all_of), text(quicker), text(slower), percent(statistics.median(all_of)) if all_of else "-", bounds]


def lost_text(queries, sessions):
    """Of a class: "0", or shares of its queries and sessions."""
    said = [f"{100 * share:.1f}% of {what}" for share, what in ((queries, "queries"), (sessions, "sessions")) if share]
    return ", ".join(said) or "0"


def disturbed(runs, where):
    left = runs.left_open(*where)
    return f" (disturbed: left {left} queries open)" if left else ""


def ms(seconds, bound):
    return f"{'>= ' if bound else ''}{1e3 * seconds:.0f}"


def strategies(runs, budget, names, loads, shares):
    rows = []
    for terminals in loads:
        for share in shares:
            for strategy in names:
                where = (budget, strategy, terminals, share)
                if not runs.count(*where):
                    continue
                times = [ms(runs.value(*where, name=n, key=k), runs.bound(*where, name=n, key=k)) for n in ("premium", "freemium") for k in ("median", "p95")]
                silent = [f"{100 * runs.never_asked(*where, name=n):.1f}%" for n in ("premium", "freemium")]
                bound = runs.overall_bound(*where)
                gone = [lost_text(*runs.lost(*where, name=n)) for n in ("premium", "freemium")]
                waits = [f"{1e3 * runs.waiting(*where, name=n):.0f}" for n in ("premium", "freemium")]
                rows.append([terminals, f"{share:g}", strategy + (" (errors)" if runs.failed(*where) else "") + disturbed(runs, where), *times, ms(runs.overall(*where), bound),
                             ms(runs.overall(*where, weight=0.5), bound), " / ".join(waits), " / ".join(silent), " / ".join(gone),
                             f"{runs.value(*where, name='freemium', key='utilization'):.2f}",
                             f"{runs.value(*where, name='freemium', key='utilization_cv'):.2f}", runs.count(*where)])
    return table(["T", "share", "strategy", "Premium median, ms", "p95", "Freemium median, ms", "p95", "all, mean", "mean, classes alike",
                  "session waiting, Premium / Freemium", "never asked, Premium / Freemium", "lost, Premium / Freemium", "u", "CV(u)", "runs"], rows)


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
    values = sorted((v for v in values if v.change == v.change), key=lambda v: v.change)
    if not values:
        return "-"
    return values[0].text() if len(values) == 1 else f"{values[0].text()} to {values[-1].text()}"


def claims(runs, comparisons, mixes):
    """The paper's figures, and ours."""
    low, middle = runs.loads[0], runs.middle

    def changes(name, strategy, other, shares):
        return span(runs.change(name, "median", strategy, other, middle, share) for share in shares)

    def significant(name, value):
        count, quicker, slower, _, bounds = summary(runs, comparisons, 5, "plb", mixes, name, value)
        return f"of {count}: quicker {quicker}; slower {slower}" + (f"; {bounds} rest on lower bounds" if bounds else "")

    def overall(strategy, other, shares):
        return span(runs.overall_change(strategy, other, middle, share) for share in shares)

    def used(strategy, shares):
        found = [f"{runs.value(5, strategy, middle, s, name='freemium', key='utilization'):.2f} / "
                 f"{runs.value(5, strategy, middle, s, name='freemium', key='utilization_cv'):.2f}"
                 for s in shares if runs.count(5, strategy, middle, s)]
        return ", ".join(found) or "-"

    light = [runs.change(n, "median", s, "round_robin", low, share)
             for s in ("plb", "dedicated_3_2") for share in (0.3, 0.5, 0.7) for n in ("premium", "freemium")] if low < middle else []
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
        for strategy in names:
            where = (5, strategy, terminals, share)
            if not runs.count(*where):
                continue
            row = [terminals, f"{share:g}", strategy + disturbed(runs, where)]
            for name, value in (("premium", "median"), ("premium", "p95"), ("freemium", "median"), ("freemium", "p95")):
                r = comparisons.at(*where, name, value)
                row.append("-" if r is None else change_text(runs, r, 5))
            refused, failed = runs.refused(*where, name="freemium")
            row += [*(runs.overall_change(strategy, "round_robin", terminals, share, weight).text() for weight in (None, 0.5)),
                    f"{100 * runs.never_asked(*where, name='freemium'):.1f}%", f"{100 * refused:.1f}%", f"{100 * failed:.1f}%", runs.count(*where)]
            rows.append(row)
    return table(["T", "share", "strategy", "Premium median", "p95", "Freemium median", "p95", "all, mean", "mean, classes alike",
                  "Freemium never asked", "refused", "failed otherwise", "runs"], rows)


def targets(runs, names):
    rows = []
    for terminals, share in runs.configurations(5, "round_robin"):
        for strategy in names:
            found = target(runs, strategy, (terminals, share)) if terminals in runs.contended else None
            if found:
                changes, missed = found
                verdict = "missed: " + ", ".join(missed) if missed else "met"
                if runs.failed(5, strategy, terminals, share):
                    verdict += "; but by those alone who were served"
                verdict += disturbed(runs, (5, strategy, terminals, share))
                rows.append([terminals, f"{share:g}", strategy, *(c.text() for c in changes), verdict])
    return table(["T", "share", "strategy", "Premium p95 (-30% or less)", "Freemium median (+15% at most)", "all, mean (not above)", "target"], rows)


def session_tables(runs, comparisons):
    of_plb = runs.configurations(5, "plb")
    mixes = [c for c in of_plb if c[1] in (0.3, 0.5, 0.7)]
    yield f"The paper's figures (its T = 1000; ours {runs.middle})", claims(runs, comparisons, mixes)
    contended = [c for c in of_plb if c[0] in runs.contended]
    yield "The objectives, under contention (shown: p below 0.05 after Holm's correction over the configurations)", table(
        ["objective", "configurations", "change", "as promised, p < 0.05 uncorrected", "... corrected", "... paired, corrected", "the other way, uncorrected",
         "... paired, uncorrected", "on lower bounds", "verdict"], objectives(runs, contended))
    yield "The objectives by configuration", table(["objective", "T", "share", "against", "change", "p", "p (Holm)", "p, paired", "p, paired (Holm)"],
                                                   each_configuration(runs, contended))
    yield "Premium under PLB against round robin", against(runs, comparisons, 5, "plb", of_plb, "premium")
    yield "Freemium under PLB against round robin", against(runs, comparisons, 5, "plb", of_plb, "freemium")
    yield "Summary over the mixes", table(
        ["strategy", "class", "value", "configurations", "significantly quicker", "significantly slower", "median of all", "on lower bounds"],
        [[s, n, v, *summary(runs, comparisons, 5, s, mixes, n, v)] for s in ("plb", "dedicated_3_2", "dedicated_4_1", "least_loaded", "proportional")
         for n in ("premium", "freemium") for v in ("median", "p95")])
    yield f"u / CV(u) at the middle load (in brackets: the paper's; its PLB at shares of 0.2 to 0.8: {PAPER_USE_OF_PLB})", use(runs, runs.middle)
    names = ["plb", "round_robin", "dedicated_3_2", "dedicated_4_1", "least_loaded", "proportional"]
    yield "All strategies", strategies(runs, 5, names, runs.loads, [0.1, 0.3, 0.5, 0.7, 0.9])
    yield "Six replicas", strategies(runs, 6, ["plb", "round_robin", "dedicated_4_2"], runs.loads, [0.3, 0.5, 0.7])


def transaction_tables(runs, comparisons):
    names = ["class_queue", "class_shortest", "budgets", "plb"]
    yield "Transaction mode against round robin in transaction mode", transaction(runs, comparisons, names)
    yield "The target in transaction mode, under contention", targets(runs, names)


def main(folder):
    settings = read_settings(folder)
    if settings is None:
        sys.exit(f"tables: {folder} has no options.json, which says what its runs were measured with")
    for mode, tables in (("session", session_tables), ("transaction", transaction_tables)):
        if (folder / mode / "runs.csv").exists():
            for title, text in tables(Runs(folder / mode, settings), Comparisons(folder / mode, settings)):
                print(f"## {title}\n\n{text}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
