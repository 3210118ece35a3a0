"""A throw-away PostgreSQL 15 primary with streaming standbys, on loopback, in one temporary directory."""

import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg2

from .net import as_postgres, free_port, wait_until

BINDIR = Path(os.environ.get("PG_BINDIR", "/usr/lib/postgresql/15/bin"))
PASSWORD = "s3cret of the tests"

# name -> how PostgreSQL itself authenticates the user over TCP (see HBA) and how its password is stored.
USERS = {
    "alice": "scram-sha-256",
    "bob": "scram-sha-256",
    "carol": "scram-sha-256",
    "mia": "md5",
    "plain": "password",
    "cert_user": "cert",
}

HBA = """
local   all          all                      trust
host    replication  postgres   127.0.0.1/32  trust
hostssl all          cert_user  127.0.0.1/32  cert
host    all          mia        127.0.0.1/32  md5
host    all          plain      127.0.0.1/32  password
host    all          trusted    127.0.0.1/32  trust
host    all          all        127.0.0.1/32  scram-sha-256
"""

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "32MB",
    "max_connections": "400",
    "max_wal_senders": "12",
    "max_replication_slots": "12",
    "max_prepared_transactions": "4",
    "wal_level": "logical",
    "wal_keep_size": "256MB",
    "wal_init_zero": "off",
    "hot_standby_feedback": "on",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "ssl": "on",
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": "200ms",
}


class Server:
    """One PostgreSQL instance: its directory, port and postmaster."""

    def __init__(self, name, directory: Path, port):
        self.name = name
        self.data = directory / name
        self.socket_dir = directory
        self.port = port
        self.host = "127.0.0.1"
        self.log = directory / f"{name}.log"

    def start(self):
        command = [BINDIR / "pg_ctl", "-D", self.data, "-l", self.log, "-w", "-t", "60", "-s", "start"]
        subprocess.run(as_postgres(map(str, command)), check=True, cwd="/", stdout=subprocess.DEVNULL)

    def stop(self, mode="fast"):
        if not self.running():
            return
        os_pid = self.pid()
        command = [BINDIR / "pg_ctl", "-D", self.data, "-m", mode, "-w", "-t", "60", "-s", "stop"]
        os.kill(os_pid, signal.SIGCONT)
        subprocess.run(as_postgres(map(str, command)), check=False, cwd="/", stdout=subprocess.DEVNULL)

    def restart(self, mode="fast"):
        self.stop(mode)
        self.start()

    def pid(self):
        """The postmaster's process id, or 0."""
        try:
            return int((self.data / "postmaster.pid").read_text().split("\n")[0])
        except (FileNotFoundError, ValueError):
            return 0

    def running(self):
        return self.pid() != 0 and Path(f"/proc/{self.pid()}").exists()

    def tree(self):
        """Process ids of the postmaster and everything it started."""
        children = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(self.pid())], capture_output=True, text=True
        )
        return [self.pid(), *map(int, children.stdout.split())]

    def signal_all(self, number):
        """Signals the postmaster first, then its children: SIGSTOP makes the whole server silent, SIGKILL
        ends it."""
        for pid in self.tree():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """Ends the whole server as a power failure would: no message to anybody."""
        pids = self.tree()
        self.signal_all(signal.SIGKILL)
        wait_until(lambda: not any(Path(f"/proc/{p}").exists() for p in pids), 10, f"{self.name} to be gone")
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def connect(self, database="postgres", user="postgres", autocommit=True):
        """A superuser connection past the router, over the Unix socket."""
        connection = psycopg2.connect(host=str(self.socket_dir), port=self.port, dbname=database, user=user)
        connection.autocommit = autocommit
        return connection

    def query(self, sql, parameters=None, database="postgres"):
        """Runs one statement directly on this server; returns its rows, if any."""
        connection = self.connect(database)
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql, parameters)
                return cursor.fetchall() if cursor.description else None
        finally:
            connection.close()

    def value(self, sql, parameters=None, database="postgres"):
        return self.query(sql, parameters, database)[0][0]

    def client_backends(self, user=None):
        """Rows (pid, user, state, application_name) of client backends other than the asking one."""
        rows = self.query(
            "select pid, usename, state, application_name from pg_stat_activity "
            "where backend_type = 'client backend' and pid <> pg_backend_pid()"
        )
        return [row for row in rows if user is None or row[1] == user]

    def end_backends(self, user):
        """Ends every server connection of `user` and waits until they are gone."""
        count = "select count(pg_terminate_backend(pid)) from pg_stat_activity where usename = %s"
        wait_until(lambda: self.value(count, (user,)) == 0, 30, f"server connections of {user} to end")

    def log_text(self):
        return self.log.read_text(errors="replace")

    def dsn(self, user="alice", database="app"):
        return f"host={self.host} port={self.port} user={user} dbname={database} password='{PASSWORD}'"


class Cluster:
    """A primary and `standbys` streaming standbys. Users of USERS exist, each with PASSWORD; database `app`
    is there."""

    def __init__(self, directory: Path, standbys=5, authority=None):
        self.directory = directory
        self.authority = authority
        self.primary = Server("primary", directory, free_port())
        self.standbys = [Server(f"r{i}", directory, free_port()) for i in range(standbys)]

    @property
    def servers(self):
        return [self.primary, *self.standbys]

    def start(self):
        if os.geteuid() == 0:
            shutil.chown(self.directory, "postgres", "postgres")
        self.directory.chmod(0o755)
        self._init_primary()
        self.primary.start()
        self._create_roles()
        with ThreadPoolExecutor() as pool:
            list(pool.map(self._make_standby, self.standbys))
        self.wait_for_replay()

    def _init_primary(self):
        command = [
            BINDIR / "initdb",
            "-D",
            self.primary.data,
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C.UTF-8",
            "-A",
            "trust",
            "--no-sync",
            "--no-instructions",
        ]
        subprocess.run(as_postgres(map(str, command)), check=True, cwd="/", stdout=subprocess.DEVNULL)
        certificate, key = self.authority.issue("postgres", "localhost", ["localhost", "127.0.0.1", "pods.test"])
        for source, target in (
            (certificate, "server.crt"),
            (key, "server.key"),
            (self.authority.ca_file, "root.crt"),
        ):
            self._install(self.primary.data / target, source.read_text(), 0o600)
        self._install(self.primary.data / "pg_hba.conf", HBA, 0o600)
        self._write_settings(self.primary)

    def _install(self, path, text, mode=0o600):
        path.write_text(text)
        path.chmod(mode)
        if os.geteuid() == 0:
            shutil.chown(path, "postgres", "postgres")

    def _write_settings(self, server, more=None):
        settings = dict(
            SETTINGS,
            port=server.port,
            unix_socket_directories=str(self.directory),
            ssl_ca_file="root.crt",
            cluster_name=server.name,
            **(more or {}),
        )
        text = "".join(f"{name} = '{value}'\n" for name, value in settings.items())
        self._install(server.data / "postgresql.auto.conf", text)

    def _create_roles(self):
        connection = self.primary.connect()
        with connection.cursor() as cursor:
            cursor.execute("alter role postgres password %s", (PASSWORD,))
            for user, method in USERS.items():
                encryption = "md5" if method == "md5" else "scram-sha-256"
                cursor.execute(
                    f"set password_encryption = '{encryption}'; create role {user} login password %s",
                    (PASSWORD,),
                )
            cursor.execute("create role trusted login")
            cursor.execute("create role monitor login password %s in role pg_monitor", (PASSWORD,))
            cursor.execute("create role team; grant team to bob")
            cursor.execute("create database app owner alice")
        connection.close()
        connection = self.primary.connect("app")
        with connection.cursor() as cursor:
            cursor.execute("grant all on schema public to public")
        connection.close()

    def _make_standby(self, server):
        command = [
            BINDIR / "pg_basebackup",
            "-h",
            self.directory,
            "-p",
            self.primary.port,
            "-U",
            "postgres",
            "-D",
            server.data,
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
        ]
        # The base backup goes over the socket; replication connects over TCP, where the HBA says trust.
        environment = dict(os.environ, PGOPTIONS="")
        command = [str(word) for word in command]
        command[command.index("-h") + 1] = "127.0.0.1"
        subprocess.run(as_postgres(command), check=True, cwd="/", env=environment)
        self._write_settings(
            server,
            {
                "primary_conninfo": f"host=127.0.0.1 port={self.primary.port} user=postgres application_name={server.name}"
            },
        )
        server.start()

    def wait_for_replay(self, timeout=30):
        """Waits until every running standby has replayed what the primary has written so far."""
        # Not pg_current_wal_lsn(): without synchronous_commit what was committed may not have been written yet.
        lsn = self.primary.value("select pg_current_wal_insert_lsn()")
        for server in self.standbys:
            if server.running():
                wait_until(
                    lambda s=server: s.value(
                        "select coalesce(pg_last_wal_replay_lsn() >= %s, false)", (lsn,)
                    ),
                    timeout,
                    f"{server.name} to replay {lsn}",
                )

    def stop(self):
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda server: server.stop("immediate"), self.servers))

    def secrets(self):
        """[(role, stored password)] as the primary keeps them: what PgBouncer's userlist.txt holds."""
        return self.primary.query("select rolname, rolpassword from pg_authid where rolpassword is not null")
