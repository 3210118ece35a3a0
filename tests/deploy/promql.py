"""As much of PromQL and of docs/reference/metrics.md as it takes to tell whether an expression names only what exists."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
METRIC = re.compile(r"\b(sluice_[a-z0-9_]+|sluice:[a-z0-9_:]+|up)\b(?!\s*\()(?:\{([^}]*)\})?")
MATCHER = re.compile(r'\s*([a-z_]+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
GROUPING = re.compile(r"\b(by|on|ignoring|without)\s*\(([^)]*)\)")
# What Prometheus adds to every series.
ADDED = {"job", "instance"}


class Table:
    """The metrics of the reference: kind, labels, and the values of labels where they are listed."""

    def __init__(self):
        self.kinds, self.labels, self.values = {}, {}, {}
        for line in (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            words = [re.findall(r"`([^`]+)`", cell) for cell in cells]
            if len(cells) == 5 and words[0] and words[0][0].startswith("sluice_"):
                self.kinds[words[0][0]] = cells[1]
                self.labels[words[0][0]] = set(words[3])
            elif len(cells) == 3 and words[0] and words[1] and words[1][0] in self.kinds:
                self.values[words[1][0], words[0][0]] = set(words[2])

    def find(self, name):
        """The metric that a series belongs to and its labels, or None."""
        if name == "up":
            return name, set(ADDED)
        if name in self.kinds and self.kinds[name] != "histogram":
            return name, self.labels[name] | ADDED
        base, _, suffix = name.rpartition("_")
        if self.kinds.get(base) == "histogram" and suffix in ("bucket", "sum", "count"):
            return base, self.labels[base] | ADDED | ({"le"} if suffix == "bucket" else set())
        return None


def problems(expr, table, recorded):
    """What is wrong with an expression's names. recorded: labels of recorded series by name."""
    bare = re.sub(r"\[[^\]]*\]", "", expr)
    known = set()
    count = 0
    for name, inner in METRIC.findall(GROUPING.sub(" ", bare)):
        count += 1
        if name.startswith("sluice:"):
            base, labels = name, recorded.get(name)
        else:
            base, labels = table.find(name) or (name, None)
        if labels is None:
            yield f"{name} does not exist"
            continue
        known |= labels
        rest = MATCHER.sub("", inner)
        if rest.strip():
            yield f"cannot read {{{inner}}}"
        for label, operator, value in MATCHER.findall(inner):
            if label not in labels:
                yield f"{name} has no label {label}"
                continue
            possible = table.values.get((base, label))
            if possible is None or value.startswith("$"):
                continue
            chosen = {v for v in possible if re.fullmatch(value, v)} if "~" in operator else {value} & possible
            if not chosen:
                yield f"{name}: no {label} is {value}"
            if "~" in operator:
                for part in value.split("|"):
                    if not any(re.fullmatch(part, v) for v in possible):
                        yield f"{name}: no {label} is {part}"
    if not count:
        yield "names no metric"
    for _, labels in GROUPING.findall(bare):
        for label in filter(None, (each.strip() for each in labels.split(","))):
            if label not in known:
                yield f"grouped by {label}, which no series in it has"


def labels_of(expr, table, recorded):
    """Labels that may be left in an expression's result: those of its outermost grouping, else of its first series."""
    outer = re.match(r"\s*(?:\(\s*)*(?:histogram_quantile\([0-9.]+,\s*)?(?:sum|count|min|max|avg)\s+by\s*\(([^)]*)\)", expr)
    if outer:
        return {each.strip() for each in outer.group(1).split(",")} - {"le"}
    name = METRIC.search(GROUPING.sub(" ", expr)).group(1)
    return recorded[name] if name.startswith("sluice:") else table.find(name)[1] - {"le"}


def expressions(dashboard):
    """What a Grafana dashboard asks: title and expression."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"].replace("$__rate_interval", "5m")
    for annotation in dashboard["annotations"]["list"]:
        yield annotation["name"], annotation["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            series, label = re.fullmatch(r"label_values\((.*), ([a-z]+)\)", variable["query"]["query"]).groups()
            yield variable["name"], f"sum by ({label}) ({series})"


def without_variables(expr):
    """As with All chosen for each of the dashboard's variables."""
    return re.sub(r"\$[a-z]+", ".*", expr)
