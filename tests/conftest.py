"""Makes the harness's fixtures known to every folder of tests that pytest runs."""

pytest_plugins = ["harness.fixtures", "harness.placer"]
