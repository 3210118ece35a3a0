"""Control groups with a share of the processors, of cgroup v1 or v2, whichever can be written here."""

import errno
import os
import time
from pathlib import Path

PERIOD_US = 10_000  # a throttled query waits for parts of this: the shorter, the more a quota is like a slower processor
QUOTA_MIN_US = 1_000  # in a period: the kernel takes no less
MOUNT = Path("/sys/fs/cgroup")


class NoQuotas(Exception):
    """Why there can be none on this machine."""


def check_quota(processors):
    """NoQuotas for a share that the kernel would refuse, before anything is started."""
    if processors is not None and round(processors * PERIOD_US) < QUOTA_MIN_US:
        raise NoQuotas(f"a quota of {processors:g} processors is below {QUOTA_MIN_US / PERIOD_US:g}, "
                       f"the {QUOTA_MIN_US / 1000:g} ms in a period of {PERIOD_US / 1000:g} ms that the kernel takes at least")


class Version1:
    """`cpu` and `cpuacct` are one mount as a rule, with links of both names to it: then there is one folder, not two."""

    def __init__(self, mount):
        self.cpu = self._mounted(mount, ("cpu", "cpu,cpuacct"), "cpu.cfs_period_us")
        self.accounts = self._mounted(mount, ("cpuacct", "cpu,cpuacct", "cpu"), "cpuacct.usage")

    @staticmethod
    def _mounted(mount, names, file):
        return next(((mount / n).resolve() for n in names if (mount / n / file).exists()), None)

    def why_not(self):
        if not self.cpu or not self.accounts:
            return "no cpu and cpuacct controllers of cgroup v1 are mounted"
        return None if os.access(self.cpu, os.W_OK) and os.access(self.accounts, os.W_OK) else f"{self.cpu} cannot be written"

    def folders(self, name):
        return list(dict.fromkeys((self.cpu / name, self.accounts / name)))

    def accounting(self, name):
        return self.accounts / name

    def limit(self, name, processors, weight):
        folder = self.cpu / name
        (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
        (folder / "cpu.cfs_quota_us").write_text(str(round(processors * PERIOD_US)) if processors else "-1")
        (folder / "cpu.shares").write_text(str(1024 * weight))


class Version2:
    def __init__(self, mount):
        self.mount = mount

    def why_not(self):
        controllers = self.mount / "cgroup.controllers"
        if not controllers.exists():
            return "cgroup v2 is not mounted there"
        if "cpu" not in controllers.read_text().split():
            return "cgroup v2 has no cpu controller there"
        try:
            (self.mount / "cgroup.subtree_control").write_text("+cpu")
        except OSError as error:
            return f"cgroup v2 cannot be written: {error.strerror}"
        return None

    def folders(self, name):
        return [self.mount / name]

    def accounting(self, name):
        return self.mount / name

    def limit(self, name, processors, weight):
        folder = self.mount / name
        (folder / "cpu.max").write_text(f"{round(processors * PERIOD_US) if processors else 'max'} {PERIOD_US}")
        (folder / "cpu.weight").write_text(str(100 * weight))


def controller(mount=MOUNT):
    """What makes groups here; NoQuotas says why there is nothing."""
    reasons = []
    for found in (Version1(mount), Version2(mount), Version2(mount / "unified")):
        reason = found.why_not()
        if not reason:
            return found
        reasons.append(reason)
    raise NoQuotas(f"needs control groups for quotas of processor time, under {mount}: " + "; ".join(dict.fromkeys(reasons)))


def thread_controller(mount=MOUNT):
    """As controller(), for Quota.add_thread(): version 1, as version 2 takes the threads of a process apart only in groups made for it."""
    found = Version1(mount)
    if reason := found.why_not():
        raise NoQuotas(f"threads of one process get quotas of their own by cgroup v1 alone, under {mount}: {reason}")
    return found


class Quota:
    """A control group for processes and whatever they fork. `processors` is its share, None without a limit; `weight` what it gets beside
    others when the machine is short, 1 as everybody. A context manager; `accounting` is the folder that counts its processor time."""

    REMOVE_SECONDS = 5.0  # a process that ends, or forks meanwhile, keeps its group for a moment

    def __init__(self, name, processors=None, weight=1, made_by=None):
        check_quota(processors)
        self.made_by = made_by or controller()
        self.name, self.processors = name, processors
        self.accounting = self.made_by.accounting(name)
        for folder in self.made_by.folders(name):
            folder.mkdir(exist_ok=True)
        self.made_by.limit(name, processors, weight)

    def add(self, pids):
        for pid in pids:
            for folder in self.made_by.folders(self.name):
                try:
                    (folder / "cgroup.procs").write_text(str(pid))
                except ProcessLookupError:
                    pass  # it has ended

    def add_thread(self, thread):
        """One thread of a process whose others stay where they are; made by thread_controller()."""
        for folder in self.made_by.folders(self.name):
            (folder / "tasks").write_text(str(thread))

    def remove(self):
        """What still runs in it goes back to the root group."""
        for folder in self.made_by.folders(self.name):
            until = time.monotonic() + self.REMOVE_SECONDS
            while not self._removed(folder):
                if time.monotonic() > until:
                    raise OSError(errno.EBUSY, "the control group stays busy", str(folder))
                time.sleep(0.05)

    @staticmethod
    def _removed(folder):
        procs = folder / "cgroup.procs"
        for pid in procs.read_text().split() if procs.exists() else ():
            try:
                (folder.parent / "cgroup.procs").write_text(pid)
            except OSError:
                pass  # it has ended
        try:
            folder.rmdir()
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.ENOTEMPTY):
                raise
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()
