"""A primary with streaming standbys, each standby with a share of a processor of its own."""

import os
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(REPOSITORY / "tests/integration"), str(Path(__file__).resolve().parent)]

from harness.postgres import Cluster  # noqa: E402
from harness.tls import Authority  # noqa: E402
from quotas import Quota, check_quota, controller  # noqa: E402


STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def stop_by_signals():
    """Whichever comes first is a KeyboardInterrupt; what is cleaned up behind it is not interrupted by another. One that is ignored, as nohup
    has it, stays so."""
    for each in STOPPING:
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, interrupt)


def interrupt(*_):
    for each in STOPPING:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


class LimitedCluster:
    """A context manager in a temporary directory, `directory`. The primary, and the standbys before limit(), are not limited."""

    def __init__(self, name, standbys, processors, weight=1):
        self.name, self.processors, self.weight = name, processors, weight
        check_quota(processors)
        self.made_by = controller()  # before anything is started
        self.temporary = tempfile.TemporaryDirectory(prefix=f"sluice-{name}-")
        self.directory = Path(self.temporary.name)
        self.directory.chmod(0o755)
        servers = self.directory / "pg"
        servers.mkdir()
        self.cluster = Cluster(servers, standbys, Authority(self.directory))
        self.quotas = []

    @property
    def primary(self):
        return self.cluster.primary

    @property
    def standbys(self):
        return self.cluster.standbys

    def group(self, part):
        """The name of a control group: this process's own, so that what an earlier one left behind is in nobody's way."""
        return f"sluice_{self.name}_{os.getpid()}_{part}"

    def limit(self):
        """Once the standbys have replayed what is to be there."""
        self.cluster.wait_for_replay(timeout=300)
        for server in self.standbys:
            quota = self.stack.enter_context(Quota(self.group(server.name), self.processors, self.weight, self.made_by))
            self.quotas.append(quota)
            quota.add(server.tree())

    def __enter__(self):
        with ExitStack() as stack:
            stack.callback(self.temporary.cleanup)
            stack.callback(self.cluster.stop)
            self.cluster.start()
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *what):
        """Whatever of it fails, the rest is still done: the quotas go first, so that servers end at full speed."""
        return self.stack.__exit__(*what)
