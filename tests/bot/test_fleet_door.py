"""Who may connect, how workers are kept running, and that width never changes a tree."""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bot import fleet_door, projects
from bot.settings import Settings
from bot.wiring import Source, Workshop, replayed
from optimizer.budget import Budget
from optimizer.errors import ConfigError, NoDeviceError
from optimizer.model import Trajectory
from optimizer.search import search
from runners.fleet import DaskDispatcher, Patience
from runners.fleet_worker import Bench, Card
from tests.runners.fleet_fakes import CARD, Here, Obedient

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("gpus:8786", "is no scheduler's address"),
        ("http://gpus:8786", "is no scheduler's address"),
        ("tcp://10.0.0.5:8786", "can run code on all its workers"),
        ("tls://10.0.0.5:8786", "needs three files"),
    ],
)
def test_another_host_is_reached_with_keys_or_not_at_all(address: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        fleet_door.security_of(Settings(), address)


def test_loopback_and_a_network_called_closed_need_no_keys() -> None:
    assert fleet_door.security_of(Settings(), "tcp://127.0.0.1:8786") is None
    assert fleet_door.security_of(Settings(), "tcp://[::1]:8786") is None
    assert fleet_door.security_of(Settings(tls="off"), "tcp://10.0.0.5:8786") is None


def certificate(folder: Path, name: str) -> Settings:
    """Make a certificate authority of its own and a key that it signed."""
    made = []
    issuer, signer = None, None
    for part in ("ca", "cert"):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name}-{part}")])
        now = dt.datetime.now(dt.UTC)
        built = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]),
                critical=False,
            )
            .add_extension(x509.BasicConstraints(ca=part == "ca", path_length=None), critical=True)
            .sign(signer or key, hashes.SHA256())
        )
        path = folder / f"{name}-{part}.pem"
        path.write_bytes(built.public_bytes(serialization.Encoding.PEM))
        made.append(str(path))
        issuer, signer = issuer or subject, signer or key
        secret = folder / f"{name}-{part}.key"
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
    return Settings(tls_ca=made[0], tls_cert=made[1], tls_key=str(folder / f"{name}-cert.key"))


def test_a_certificate_of_another_authority_does_not_get_in(tmp_path: Path) -> None:
    ours, theirs = certificate(tmp_path, "ours"), certificate(tmp_path, "theirs")
    quick = Patience(join=3.0)

    def keys(given: Settings) -> object:
        return fleet_door.security_of(given, "tls://127.0.0.1:0")

    bench = Bench(Obedient("a"), CARD, None, tmp_path)
    with Here([bench], security=keys(ours)) as here:
        assert here.address.startswith("tls://")
        with DaskDispatcher(here.address, security=keys(ours), patience=quick) as fleet:  # type: ignore[arg-type]
            assert fleet.gpus == 1
        with pytest.raises(NoDeviceError, match="no scheduler answers"):
            DaskDispatcher(
                here.address,
                security=keys(theirs),  # type: ignore[arg-type]
                patience=replace(quick, join=0.5),
            )


def test_another_version_and_another_gpu_than_asked_for_are_left_out(tmp_path: Path) -> None:
    from contextlib import ExitStack

    quick = Patience(join=0.5)
    bench = Bench(Obedient("a"), CARD, None, tmp_path)
    for settings, words in (
        (Settings(device="A100"), "asked for was A100"),
        (Settings(), "has optiml 1, this is"),
    ):
        card = replace(CARD, recorded="recorded") if settings.device == "A100" else CARD
        bench.card = card
        with Here([bench]) as here, ExitStack() as stack:
            given = replace(settings, scheduler=here.address)
            with pytest.raises(NoDeviceError, match=words):
                fleet_door.source_of(given, print, stack, quick)


CHILD = """
import pathlib, sys, time
file = pathlib.Path(sys.argv[-1].replace("--with-parent", "") or "x")
device = sys.argv[sys.argv.index("--device") + 1]
log = pathlib.Path("log"); log.open("a").write(device + "\\n")
if device == "cuda:2": sys.exit(4)
if log.read_text().count(device) == 1: sys.exit(9)
time.sleep(60)
"""


def test_a_worker_that_ended_is_started_again_but_not_where_there_is_no_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    log = tmp_path / "log"

    def stop() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if log.exists() and log.read_text().split().count("cuda:1") == 2:
                break
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)  # SIGINT is ignored in a shell's background jobs

    watcher = threading.Thread(target=stop)
    watcher.start()
    command = (sys.executable, "-c", CHILD)
    fleet_door.supervise(["cuda:1", "cuda:2"], "tcp://127.0.0.1:1", said.append, command)
    watcher.join()
    assert sorted(log.read_text().split()) == ["cuda:1", "cuda:1", "cuda:2"]
    assert any("cuda:1 ended with status 9; another one" in words for words in said)
    assert any("cuda:2 ended with status 4 and is not" in words for words in said)


def test_a_worker_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    child = (
        "import time\nfrom bot import fleet_door\nfleet_door.with_parent()\n"
        f"open({str(tmp_path / 'up')!r}, 'w').close()\n"
        "try:\n    time.sleep(30)\n"
        f"finally:\n    open({str(tmp_path / 'late')!r}, 'w').close()\n"
    )
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])\n"
    started = subprocess.Popen([sys.executable, "-c", parent])
    deadline = time.monotonic() + 60
    while not (tmp_path / "up").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    started.kill()
    started.wait(30)
    deadline = time.monotonic() + 20  # it sleeps for longer
    while str(tmp_path / "up") in _command_lines():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert not (tmp_path / "late").exists(), "SIGTERM ends it at once, asleep or not"


def _command_lines() -> str:
    return subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


# -- width ---------------------------------------------------------------------------------------


def tree(source: Source, window: int | str, record: Path | None = None) -> Trajectory:
    (file,) = (EXAMPLES / "spmv").glob("*.cu")
    kernel, workload = projects.of_file(file).kernels[0]
    settings = Settings(policy="rules", memory="off", window=window)
    with Workshop(settings, source=source, record=record) as shop:
        return search(
            kernel,
            workload,
            replace(shop.tools(kernel, workload), clock=lambda: 0.0),
            Budget(40),
            settings=shop.search_settings,
            environment=shop.environment,
        )


@pytest.mark.parametrize("window", [0, 16])
def test_a_recording_gives_the_same_tree_on_one_two_four_and_eight_workers(
    window: int, tmp_path: Path
) -> None:
    recording = EXAMPLES / "spmv" / "recording.jsonl.gz"
    alone = tree(replayed(recording), window)
    assert len(alone.steps) > 20
    for count in (1, 2, 4, 8):
        source = replayed(recording)
        seen = source.environment
        card = Card(seen.gpu, seen.driver, seen.toolkit, seen.optiml, recorded=seen.recorded)
        benches = [Bench(source.dispatcher, card, None, tmp_path) for _ in range(count)]
        with Here(benches) as here, DaskDispatcher(here.address) as fleet:
            deadline = time.monotonic() + 60
            while fleet.gpus < count:
                assert time.monotonic() < deadline
                time.sleep(0.02)
            found = tree(Source(fleet, seen, source.profile, lambda f=fleet: f.width), window)  # type: ignore[misc]
        assert found.steps == alone.steps
        assert found == alone


def test_a_search_is_replayed_and_taken_up_with_the_window_its_gpus_gave_it(tmp_path: Path) -> None:
    recorded = replayed(EXAMPLES / "spmv" / "recording.jsonl.gz")
    machine = replace(recorded, environment=replace(recorded.environment, recorded=""))
    found = tree(replace(machine, gpus=4), "auto", tmp_path / "recording.jsonl")
    assert found.environment.window == 8
    again = tree(replayed(tmp_path / "recording.jsonl"), "auto")
    assert again.environment.window == 8
    assert again.steps == found.steps
    with Workshop(Settings(policy="rules", memory="off"), source=machine) as shop:
        assert shop.settings_of(None).window == 0, "one GPU goes by batches"
        assert shop.settings_of(found).window == 8
    told = Settings(policy="rules", memory="off", window=3)
    with Workshop(told, source=replace(machine, gpus=4)) as shop:
        assert shop.settings_of(found).window == 3


def test_a_recording_that_names_no_window_is_searched_by_batches() -> None:
    recording = EXAMPLES / "spmv" / "recording.jsonl.gz"
    with Workshop(Settings(policy="rules", memory="off"), replay=recording) as shop:
        assert shop.search_settings.window == 0
