"""How long the runs take: before anything has begun, and while they go on."""

import csv
import statistics

BEDS_READY = 90  # seconds until servers and data are there
BESIDE = 1.5  # seconds of a run beside its duration: a router that starts, the last answers, two of each
BAR = 24


def seconds_of(output, duration):
    """Of a run: the mean of those that are there, or what is known of others."""
    took = []
    for path in output.glob("*/load.csv"):
        with open(path, encoding="utf-8", newline="") as file:
            took += [float(row["seconds"]) for row in csv.DictReader(file) if row.get("seconds")]
    return statistics.fmean(took) if len(took) >= 5 else duration + BESIDE


def clock(seconds):
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60:02d} min"


def plan(all_cells, todo, seconds, beds):
    """Lines: a stage each, and the whole."""
    lines, left = [], 0.0
    for stage in dict.fromkeys(c.grid for c in all_cells):
        count, open_ = (sum(c.grid == stage for c in some) for some in (all_cells, todo))
        repetitions = max(c.repetition for c in all_cells if c.grid == stage)
        left += open_ * seconds / beds
        lines.append(f"{stage:<12} {count:4} runs in {repetitions} repetitions, {count - open_} of them there: {clock(open_ * seconds / beds)} left")
    if todo:
        left += BEDS_READY
    return [*lines, f"all          {clock(left)}, with {seconds:.1f} s for a run, {beds} at a time, and the data"]


def bar(done, count):
    share = done / count if count else 1.0
    filled = int(share * BAR)
    return f"[{'=' * filled}{'>' if filled < BAR else ''}{' ' * (BAR - filled - 1)}] {100 * share:3.0f}%"
