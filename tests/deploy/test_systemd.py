"""The units: what systemd thinks of them, and that what the program needs is allowed."""

import re

import pytest

from promql import ROOT
from tools import run_tool
from units import UNITS, allowed_calls, analyze, calls_of, unit_text


@pytest.fixture(scope="module")
def units(tmp_path_factory):
    """The units as installed, but for the program: /bin/true is there on any machine."""
    folder = tmp_path_factory.mktemp("units")
    (folder / "bin").mkdir()
    (folder / "bin/sluice").symlink_to("/bin/true")
    for unit in UNITS:
        (folder / f"{unit}.service").write_text(unit_text(unit, folder / "bin"), encoding="utf-8")
    return folder


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


@pytest.mark.parametrize("unit", UNITS)
def test_systemd_is_told_how_the_service_is(units, unit):
    # What the program tells it: tests/integration/test_service.py.
    lines = (units / f"{unit}.service").read_text(encoding="utf-8").splitlines()
    for wanted in ("Type=notify", "NotifyAccess=main", "WatchdogSec=30s", "Restart=on-failure", "ExecReload=/bin/kill -HUP $MAINPID"):
        assert wanted in lines, wanted


def test_logs_are_where_the_units_may_write_and_their_rotation_is_understood(units, tmp_path):
    text = (ROOT / "deploy/debian/sluice.logrotate").read_text(encoding="utf-8")
    for unit in UNITS:
        lines = (units / f"{unit}.service").read_text(encoding="utf-8").splitlines()
        assert f"LogsDirectory={unit}" in lines and f"/var/log/{unit}/*.log" in text and f"{unit}.service" in text
    # As whoever runs this, on files that are here.
    log = tmp_path / "sluice.log"
    log.write_text("line\n", encoding="utf-8")
    text = re.sub(r"^/var/log.*\{", f"{log} {{", text, flags=re.M)
    text = re.sub(r"^\s+(su|create) .*\n", "", text, flags=re.M).replace("systemctl kill", "true")
    (tmp_path / "rotate").write_text(text, encoding="utf-8")
    (tmp_path / "rotate").chmod(0o644)
    done = run_tool("logrotate", "logrotate", "--force", "--state", str(tmp_path / "state"), str(tmp_path / "rotate"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sluice.log.1").read_text(encoding="utf-8") == "line\n" and not log.exists()


@pytest.mark.parametrize("unit", UNITS)
def test_the_process_can_be_followed_by_another(units, unit):
    text = (units / f"{unit}.service").read_text(encoding="utf-8")
    assert f"--takeover /run/{unit}/takeover" in text and f"RuntimeDirectory={unit}" in text
    # Processes that were taken over from drain too when the unit stops.
    assert "KillMode=control-group" in text
    assert {"execve", "close_range", "sendmsg", "recvmsg"} <= allowed_calls(unit)


def test_the_router_may_use_io_uring():
    # What it calls in earnest is compared in test_compose.py.
    assert {"io_uring_setup", "io_uring_enter", "io_uring_register"} <= allowed_calls("sluice")


@pytest.mark.parametrize("unit", UNITS)
def test_privileged_calls_are_refused(unit):
    assert not calls_of("@privileged") & allowed_calls(unit)
    assert not {"ptrace", "mount", "kexec_load", "bpf"} & allowed_calls(unit)
