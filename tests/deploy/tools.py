"""Programs of other packages that check what is deployed."""

import shutil
import subprocess

import pytest


def run_tool(name, package, *arguments):
    """What the program said, and its status; the test is skipped where its Debian package is not installed."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed (Debian package {package})")
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=60, check=False)
