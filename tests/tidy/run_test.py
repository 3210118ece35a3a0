#!/usr/bin/env python3
"""tests/run.sh on a tree of its own, whose builds and tests are stubs: does it say what it leaves out, and count right?

usage: run_test.py        prints nothing and ends with 0 when all is well
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import pytest  # noqa: F401  run.sh runs it
except ImportError:
    sys.exit(77)

TESTS = Path(__file__).resolve().parents[1]
# Those that the release step hands to pytest.
FOLDERS = re.search(r"integration release integration ([^;]+);", (TESTS / "run.sh").read_text()).group(1).split()
FOLDERS.append("tests/browser")  # in a step of its own
# Those of the integration tests that are run in transaction mode too.
TRANSACTION = re.search(r"tests/integration/test_\{([^}]+)\}\.py", (TESTS / "run.sh").read_text()).group(1).split(",")
JUNIT = '<testsuite tests="2" failures="0" skipped="0"><testcase name="a"/><testcase name="b"/></testsuite>'
CTEST = f"""#!/bin/bash
while [ $# -gt 1 ]; do [ "$1" != --output-junit ] || echo '{JUNIT}' >"$2"; shift; done
"""


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def run(folder, regress, **environment):
    """The output of one run whose regression suite is the script `regress`."""
    for name in ("run.sh", "junit_count.py", "pytest.ini"):
        (folder / "tests").mkdir(exist_ok=True)
        shutil.copy(TESTS / name, folder / "tests" / name)
    for place in FOLDERS:
        executable(folder / place / f"test_{Path(place).name}.py", "import pytest\n@pytest.mark.short\ndef test_it(): pass\n")
    executable(folder / "tests/compat/regress.sh", regress)
    for name in TRANSACTION:
        (folder / f"tests/integration/test_{name}.py").write_text("def test_it(): pass\n")
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(TESTS / "browser" / name, folder / "tests/browser" / name)
    executable(folder / "bin/npm", "#!/bin/bash\n")
    executable(folder / "bin/cmake", "#!/bin/bash\n")
    executable(folder / "bin/ctest", CTEST)
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    settings = {**os.environ, "PATH": path, "SLUICE_SKIP_INSTALL": "1", **environment}
    done = subprocess.run(["bash", folder / "tests/run.sh"], capture_output=True, text=True, env=settings, timeout=100)
    return done.returncode, done.stdout


def check(name, regress, status, last, *lines, **environment):
    with tempfile.TemporaryDirectory() as folder:
        got, output = run(Path(folder), regress, **environment)
    told = output.rstrip().splitlines()
    wanted = [line for line in lines if line not in [re.sub(r"^\d\d:\d\d  ", "", each) for each in told]]
    again = [line for line in lines if line.startswith("left out") and line not in told]
    assert (got, told[-1], wanted, again) == (status, last, [], []), f"{name}: {(got, wanted, again)}\n{output}"
    return output


# release: 2 units, one of pytest per folder and those of transaction mode, these again with compat, the suite; asan: 2 and the short one
# of integration; tsan: 2.
release = 2 + len(FOLDERS) + len(TRANSACTION)
without_suite = release + 1 + len(TRANSACTION) + 3 + 2
output = check("all", "exit 0\n", 0, f"{without_suite + 1} passed, 0 failed")
assert "left out" not in output, output
check(
    "no time",
    "exit 0\n",
    0,
    f"{release} passed, 0 failed",
    "left out for time: transaction mode",
    "left out for time: PostgreSQL's regression suite",
    "left out for time: asan",
    "left out for time: tsan",
    SLUICE_TEST_MINUTES="0",
)
reason = "the source cannot be fetched"
check(
    "no source",
    f"echo 'regress.sh: {reason}' >&2; exit 77\n",
    0,
    f"{without_suite} passed, 0 failed",
    f"left out PostgreSQL's regression suite: {reason}",
)
check("a difference", "exit 1\n", 1, f"{without_suite} passed, 1 failed", "FAILED: PostgreSQL's regression suite")
