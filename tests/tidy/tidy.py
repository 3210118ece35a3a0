#!/usr/bin/env python3
"""Rules of the code that no compiler checks. Prints every offence as file:line and ends with 1 if there is one.

usage: tests/tidy/tidy.py [--help]      (from anywhere; reads the tree that it stands in)
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# No socket, clock, thread, file or randomness of their own.
PURE = ["include/sluice", "src/base", "src/trace", "src/policy", "src/protocol", "src/stats", "src/placement", "src/pooling", "src/decide", "src/profile", "src/sim"]

# Where, what may not be there, and why.
FORBIDDEN = [
    (PURE, r"#include <(asio|sys/socket|sys/epoll|thread|fstream|filesystem|random)\b", "a pure folder does no I/O"),
    (PURE, r"_clock::now\(", "a pure folder has no clock: pass `now` in"),
    (["src"], r"asio::detached\b|, detached\)", "a detached coroutine loses its exceptions: net::TaskGroup"),
    (["src/net"], r"std::(mutex|shared_mutex|recursive_mutex)\b", "net takes no lock"),
    (["src", "include"], r"\b(TODO|FIXME|XXX)\b", "finish it, or say elsewhere what is missing"),
    (["src"], r"\?[^;:]*\bco_await\b|:\s*co_await\b", "GCC 12 miscompiles co_await inside ?:"),
    (["src"], r"co_await [^;]*\(\s*\[", "GCC 12 destroys a temporary closure inside co_await twice: name it"),
    (["tests"], r"\b(sleep_for|sleep_until|usleep|nanosleep)\s*\(", "a test waits for an event, not for time"),
]
# `label: co_await` in a switch, and `for (x : range)` before one, are no conditional operators.
ALLOWED = re.compile(r"^\s*(case .*|default):\s*co_await")


def sources(folders, suffixes=(".h", ".cc")):
    for folder in folders:
        yield from sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in suffixes)


def without_comments(line):
    return re.sub(r'"(\\.|[^"\\])*"', '""', line).split("//")[0]


def forbidden():
    for folders, pattern, why in FORBIDDEN:
        regex = re.compile(pattern)
        for path in sources(folders):
            if "sleep" in pattern and path.name.endswith("_pg_test.cc"):
                continue  # these wait for other processes, which say nothing when they are done: they poll, bounded
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                text = line if "TODO" in pattern else without_comments(line)
                if regex.search(text) and not ALLOWED.search(text):
                    yield f"{path.relative_to(ROOT)}:{number}: {why}"


def unused_headers():
    text = {path: path.read_text(encoding="utf-8") for path in sources(["src", "include", "tests"])}
    included = set(re.findall(r'#include "([^"]+)"', "\n".join(text.values())))
    for path in text:
        if path.suffix != ".h" or path.is_relative_to(ROOT / "include"):
            continue
        names = {str(path.relative_to(ROOT / base)) for base in ("src", ".") if path.is_relative_to(ROOT / base)}
        if not names & included:
            yield f"{path.relative_to(ROOT)}:1: nobody includes this header"


def undescribed_folders():
    for folder in sorted((ROOT / "src").iterdir()):
        if folder.is_dir() and not (folder / "README.md").exists():
            yield f"src/{folder.name}:1: a folder says in README.md what it is for"


def dead_links():
    """README.md, docs and conf are installed as they stand here (deploy/CMakeLists.txt), and nothing else is."""
    installed = [ROOT / "README.md", ROOT / "docs", ROOT / "conf"]
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        fenced = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= line.lstrip().startswith("```")
            for link in [] if fenced else re.findall(r"\]\(([^)#\s]+)[^)]*\)", line):
                target = (path.parent / link).resolve()
                if re.match(r"\w+:", link):
                    continue
                if not target.exists() or not any(target.is_relative_to(root) for root in installed):
                    yield f"{path.relative_to(ROOT)}:{number}: {link} is not there, or not installed"


def white_space():
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if tool is None:
        yield "clang-format is not installed: see deploy/install-deps.sh"
        return
    files = [str(p) for p in sources(["src", "include", "tests"])]
    found = subprocess.run([tool, "--dry-run", "-style=file", *files], capture_output=True, text=True, cwd=ROOT)
    for line in sorted(set(re.findall(r"^(\S+:\d+):\d+: warning: code should be", found.stderr, re.M))):
        yield f"{line.removeprefix(str(ROOT) + '/')}: not as clang-format wants it"


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip())
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    offences = [line for check in (forbidden, unused_headers, undescribed_folders, dead_links, white_space) for line in check()]
    print("\n".join(offences) if offences else "tidy")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
