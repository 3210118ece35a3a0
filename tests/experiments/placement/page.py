"""The results as one self-contained HTML page, and as text."""

from html import escape

# The article's numbers, in ms: (median on a, median on b), or per policy.
PAPER = {
    "hold_out": {("/feed", "a"): (2.261, 2.338), ("/feed", "b"): (2.451, 2.571),
                 ("/feed-naive", "a"): (5.650, 5.978), ("/feed-naive", "b"): (4.449, 4.744)},
    "routed": {"/feed": (2.834, 2.816, 2.829), "/feed-naive": (6.356, 5.742, 5.690), "/serial/1": (1.978, 1.973, 1.966),
               "/serial/3": (2.949, 2.887, 2.865), "/serial/12": (6.776, 4.977, 4.918)},
    "sweep": {0: (1.044, 1.499), 1: (1.668, 1.844), 3: (2.603, 2.443), 6: (3.956, 3.225), 12: (6.668, 4.555),
              24: (12.039, 7.405), 48: (22.435, 12.743)},
    "crossover": (3.55, 1.62, 2.05),
}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #d8dee4; }
th:first-child, td:first-child { text-align: left; } caption { text-align: left; font-weight: 600; padding: .3rem 0; }
.good { color: #116329; } .bad { color: #a40e26; } svg { max-width: 100%; height: auto; } p.note { color: #57606a; }
@media (prefers-color-scheme: dark) { body { background: #0d1117; color: #e6edf3; } th, td { border-color: #30363d; }
 .good { color: #3fb950; } .bad { color: #ff7b72; } p.note { color: #8d96a0; } }
"""


def ms(value):
    return "-" if value is None else f"{value:.3f}"


def interval(value):
    return f"{value[0]:+.3f} [{value[1]:+.3f}, {value[2]:+.3f}]"


def verdict(good):
    return "yes" if good else "NO"


def table(caption, heads, rows):
    def cell(text):
        mark = {"yes": ' class="good"', "NO": ' class="bad"'}.get(text, "")
        return f"<td{mark}>{escape(str(text))}</td>"

    head = "".join(f"<th scope=col>{escape(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(cell(c) for c in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def all_tables(t):
    """(caption, heads, rows) of everything."""
    yield ("Estimates and held-out direct medians, ms (in brackets: the article's)",
           ["page, host", "estimate", "held out", "error", "allowed", "within"],
           [[f"{r['page']} {r['host']}", f"{ms(r['estimate'])} ({PAPER['hold_out'][r['page'], r['host']][0]})",
             f"{ms(r['held_out'])} ({PAPER['hold_out'][r['page'], r['host']][1]})", ms(r["error"]), ms(r["allowed"]),
             verdict(r["good"])] for r in t["hold_out"]])
    yield ("Which host is faster, and which profiled picks; median difference a - b with 95% interval, ms",
           ["page", "a - b", "faster", "profiled picks", "right, or no difference"],
           [[c["page"], interval(c["a_minus_b"]), c["faster"], c["profiled"], verdict(c["good"])] for c in t["choices"]])
    yield ("Medians through the placer, ms, a new upstream connection per request (in brackets: the article's; below: share sent to b)",
           ["page", "user_first", "network_only", "profiled", "adaptive", "profiled, N_serial observed"],
           [row for r in t["routed"] for row in (
               [r["page"], *(f"{ms(r[p]['median'])} ({PAPER['routed'][r['page']][i]})" for i, p in
                             enumerate(("user_first", "network_only", "profiled"))),
                ms(r["adaptive"]["median"]), ms(r["observed"]["median"])],
               ["", *(f"{r[p]['on_b']:.0%}" for p in ("user_first", "network_only", "profiled", "adaptive", "observed"))])])
    yield ("Median differences through the placer with 95% bootstrap intervals, ms; left minus right",
           ["page", "user_first - profiled", "network_only - profiled", "user_first - adaptive"],
           [[r["page"], interval(r["user_first - profiled"]), interval(r["network_only - profiled"]),
             interval(r["user_first - adaptive"])] for r in t["routed"]])
    yield ("adaptive minus the best published policy, ms: the best picked by one half of its samples and measured by the other; "
           "and, flattering the best, picked and measured by the same",
           ["page", "adaptive - best", "not worse", "picked", "by the same samples", "picked"],
           [[r["page"], interval(r["adaptive - best"]), verdict(r["adaptive - best"][1] <= 0), ", ".join(dict.fromkeys(r["best"])),
             interval(r["adaptive - least"]), r["least"]] for r in t["routed"]])
    sweep = t["sweep"]
    yield ("Serial calls, direct, medians in ms (in brackets: the article's)", ["N", "a", "b", "a - b"],
           [[n, f"{ms(sweep['medians']['a'][n])} ({PAPER['sweep'][n][0]})", f"{ms(sweep['medians']['b'][n])} ({PAPER['sweep'][n][1]})",
             interval(sweep["difference"][n])] for n in sweep["medians"]["a"]])
    yield ("Crossover: b is faster beyond so many calls", ["", "ours", "the article's"],
           [["predicted, network only", ms(sweep["predicted_network"]), PAPER["crossover"][0]],
            ["predicted, profiled", ms(sweep["predicted_profiled"]), PAPER["crossover"][1]],
            ["measured, between the numbers of calls", ms(sweep["measured"]), PAPER["crossover"][2]],
            ["measured, by least squares", ms(sweep["measured_by_lines"]), 2.15]])
    move = t["move"]
    yield (f"adaptive when {move['delay_us']} us each way move from the link to b to a's link to the database: share of {move['page']} sent to b",
           ["before", "after 10 s", "by second"],
           [[f"{move['on_b_before']:.0%}", "-" if move["on_b_after_10_s"] is None else f"{move['on_b_after_10_s']:.0%}",
             " ".join("-" if s is None else f"{s:.0%}" for s in move["on_b_by_second"][:15])]])
    relay = t["relay"]
    yield ("The link between a and b, ms", ["delay each way", "ping", "TCP_INFO, least"],
           [[f"{micros} us", ms(m["ping_ms"]), ms(m["tcp_ms"])] for micros, m in relay["by_delay_us"].items()])


def summary(t):
    text = ""
    for caption, heads, rows in all_tables(t):
        rows = [heads] + [[str(c) for c in row] for row in rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
        text += caption + "\n" + "\n".join("  " + "  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows) + "\n\n"
    return text


def sweep_plot(sweep):
    """Medians over the number of calls, ours as lines, the article's as dots."""
    width, height, left, bottom = 640, 340, 50, 40
    numbers = list(sweep["medians"]["a"])
    top = 1.05 * max([*sweep["medians"]["a"].values(), *(max(pair) for pair in PAPER["sweep"].values())])

    def x(n):
        return left + (width - left - 90) * n / max(numbers)

    def y(value):
        return height - bottom - (height - bottom - 15) * value / top

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Medians over the number of serial calls">']
    for tick in range(0, int(top) + 1, 5):
        parts.append(f'<line x1="{left}" x2="{width - 90}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="#8884"/>'
                     f'<text x="{left - 8}" y="{y(tick) + 4:.1f}" font-size="12" text-anchor="end" fill="currentColor">{tick}</text>')
    for n in numbers:
        parts.append(f'<text x="{x(n):.1f}" y="{height - bottom + 18}" font-size="12" text-anchor="middle" fill="currentColor">{n}</text>')
    for i, (host, colour) in enumerate((("a", "#2f81f7"), ("b", "#d29922"))):
        medians = sweep["medians"][host]
        points = " ".join(f"{x(n):.1f},{y(medians[n]):.1f}" for n in numbers)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append("".join(f'<circle cx="{x(n):.1f}" cy="{y(PAPER["sweep"][n][i]):.1f}" r="3.5" fill="none" stroke="{colour}"/>'
                             for n in numbers))
        parts.append(f'<text x="{width - 84}" y="{y(medians[numbers[-1]]) + 4:.1f}" font-size="13" fill="{colour}">Compute {host.upper()}</text>')
    parts.append(f'<text x="{left}" y="{height - 4}" font-size="12" fill="currentColor">serial calls N; response time in ms; circles: the article</text></svg>')
    return "".join(parts)


def difference_plot(routed):
    """Intervals of user_first - profiled."""
    width, row = 640, 30
    values = [r["user_first - profiled"] for r in routed]
    low, high = min(0, *(v[1] for v in values)), max(0.1, *(v[2] for v in values))
    height = row * len(routed) + 40

    def x(value):
        return 130 + (width - 150) * (value - low) / (high - low)

    parts = [f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Gain of profiled over user_first">',
             f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="5" y2="{height - 30}" stroke="#888"/>']
    for i, (r, v) in enumerate(zip(routed, values)):
        middle = 20 + row * i
        parts.append(f'<text x="4" y="{middle + 4}" font-size="13" fill="currentColor">{escape(r["page"])}</text>'
                     f'<line x1="{x(v[1]):.1f}" x2="{x(v[2]):.1f}" y1="{middle}" y2="{middle}" stroke="#2f81f7" stroke-width="3"/>'
                     f'<circle cx="{x(v[0]):.1f}" cy="{middle}" r="5" fill="#2f81f7"/>')
    parts.append(f'<text x="4" y="{height - 6}" font-size="12" fill="currentColor">'
                 f'user_first - profiled, ms, 95% intervals; line: 0, right of it profiled is faster; to {high:.2f}</text></svg>')
    return "".join(parts)


def render(t):
    settings = t["settings"]
    body = "".join(table(*each) for each in all_tables(t))
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Placing compute along the database request path, repeated</title><style>{STYLE}</style></head><body>"
        "<h1>Placing compute along the database request path, repeated</h1>"
        f"<p>{settings['samples']} samples per arm, seed {settings['seed']}; three machines as network namespaces of one, joined by links whose "
        f"delay a relay adds: {settings['delay_us']} us each way between Compute A and Compute B, about 100 us between A and the database. "
        "Client and placer run on A. The same Rails service runs on both; PostgreSQL is behind the router. Numbers in brackets are the article's, "
        "from other machines: signs and order are to be compared, not sizes. Load average of this machine at the beginning and end: "
        f"{settings['load'][0]:.1f}, {settings['load'][1]:.1f} (of the experiment alone: about 1).</p>"
        f"{sweep_plot(t['sweep'])}{difference_plot(t['routed'])}{body}"
        "<p class=note>Intervals: percentile bootstrap, 10,000 resamples. Every sample is in samples.csv.</p></body></html>"
    )
