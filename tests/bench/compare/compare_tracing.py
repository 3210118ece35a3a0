#!/usr/bin/python3
"""Runs Sluice with and without trace_comments under the same loads and writes docs/bench/tracing.md: what it costs to
read comments and to group calls into requests. Asserts nothing."""

import pairs  # noqa: I001 - it finds the harness
import contenders

SELECT = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid"
COMMENT = (
    " /*action='show',controller='articles',framework='rails',route='%2Farticles%2F%3Aid',"
    "traceparent='00-5bd66ef5095369c7b0d1f8:trace-c532cb4098ac3dd2-01'*/"
)


def script(calls, comment=COMMENT):
    """A request: calls one after another, under a trace of their own. Ten random digits end the trace-id."""
    return (
        "\\set aid random(1, 100000 * :scale)\n\\set trace random(1000000000, 9999999999)\n"
        + f"{SELECT}{comment};\n" * calls
    )


LOADS = {
    "plain": pairs.Load("no comments", script=script(1, "")),
    "single": pairs.Load("every call a request of its own", script=script(1)),
    "chain": pairs.Load("twelve calls per request", script=script(12), calls=12),
}
ABOUT = (
    "The router's CPU time per call, all its threads, with `trace_comments` and without, under the same load: pgbench, one SELECT by primary "
    "key per call. Sockets are served as by default: where the kernel allows it by io_uring, which makes a call cheaper and so tracing's "
    "share of it greater."
)


class Tracing(contenders.Sluice):
    name, title, options, engine = "traced", "trace_comments: true", {"trace_comments": True}, "auto"


class Untraced(contenders.Sluice):
    name, title, options, engine = "untraced", "trace_comments: false", {"trace_comments": False}, "auto"


if __name__ == "__main__":
    pairs.run(__doc__, "What tracing costs", ABOUT, "docs/bench/tracing.md", 1, LOADS, [Tracing(), Untraced()])
