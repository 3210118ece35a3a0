"""The units as installed, and the system calls that they allow."""

import re


from promql import ROOT
from tools import run_tool

UNITS = ("sluice", "sluice-placer")


def unit_text(unit, bin_dir="/usr/bin"):
    text = (ROOT / f"deploy/systemd/{unit}.service.in").read_text(encoding="utf-8")
    for name, value in (("BIN", bin_dir), ("DOC", "/usr/share/doc/sluice"), ("CONFIG", "/etc/sluice")):
        text = text.replace(f"@SLUICE_{name}_DIR@", str(value))
    assert "@SLUICE" not in text
    return text


def analyze(*arguments):
    return run_tool("systemd-analyze", "systemd", *arguments)


def calls_of(group):
    """A group of system calls with the groups in it, as this machine's systemd has them."""
    done = analyze("syscall-filter", group)
    assert done.returncode == 0, done.stderr
    found = set()
    for word in (line.strip() for line in done.stdout.splitlines()[1:]):
        if word.startswith("@"):
            found |= calls_of(word)
        elif word and not word.startswith("#"):
            found.add(word)
    return found


def allowed_calls(unit):
    """What the unit's SystemCallFilter= lines leave, in their order."""
    allowed = set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", unit_text(unit), re.M):
        groups = set().union(*(calls_of(group) for group in line.lstrip("~").split()))
        allowed = allowed - groups if line.startswith("~") else allowed | groups
    return allowed


def traced_calls(file):
    return set(re.findall(r"^\d+ +([a-z_0-9]+)\(", file.read_text(encoding="utf-8", errors="replace"), re.M))
