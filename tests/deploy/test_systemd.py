"""The units: what systemd thinks of them, and that what the program needs is allowed."""

import re
import shutil
import subprocess

import pytest

from promql import ROOT

UNITS = ("sluice", "sluice-placer")


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """The units as installed, but for the program: /bin/true is there on any machine."""
    folder = tmp_path_factory.mktemp("units")
    (folder / "bin").mkdir()
    (folder / "bin/sluice").symlink_to("/bin/true")
    for unit in UNITS:
        text = (ROOT / f"deploy/systemd/{unit}.service.in").read_text(encoding="utf-8")
        for name, value in (("BIN", folder / "bin"), ("DOC", "/usr/share/doc/sluice"), ("CONFIG", "/etc/sluice")):
            text = text.replace(f"@SLUICE_{name}_DIR@", str(value))
        assert "@SLUICE" not in text
        (folder / f"{unit}.service").write_text(text, encoding="utf-8")
    return folder


def analyze(*arguments):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed (Debian package systemd)")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_finds_nothing_wrong(units, unit):
    done = analyze("verify", "--man=no", str(units / f"{unit}.service"))
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr


@pytest.mark.parametrize("unit", UNITS)
def test_hardening_does_not_decay(units, unit):
    # The threshold is in tenths. 1.4 is what remains for a service that speaks TCP and Unix sockets with clients it does not know.
    done = analyze("security", "--offline=true", "--threshold=14", "--no-pager", str(units / f"{unit}.service"))
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze judges no files (before 250)")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("unit", UNITS)
def test_no_new_privileges_a_private_tmp_and_a_filter_that_answers(units, unit):
    lines = (units / f"{unit}.service").read_text(encoding="utf-8").splitlines()
    for wanted in ("NoNewPrivileges=yes", "PrivateTmp=yes", "CapabilityBoundingSet=", "User=sluice", "SystemCallErrorNumber=EPERM", "SystemCallArchitectures=native"):
        assert wanted in lines, wanted


def test_the_router_may_use_io_uring(units):
    filters = re.findall(r"^SystemCallFilter=(.*)$", (units / "sluice.service").read_text(encoding="utf-8"), re.M)
    allowed = " ".join(f for f in filters if not f.startswith("~")).split()
    refused = " ".join(f[1:] for f in filters if f.startswith("~")).split()
    assert "@aio" in allowed
    done = analyze("syscall-filter", "@aio")
    assert {"io_uring_setup", "io_uring_enter", "io_uring_register"} <= set(done.stdout.split())
    for name in refused:
        assert "io_uring" not in analyze("syscall-filter", name).stdout
