"""A capture may come from anywhere: nothing in it is believed, and nothing in it hurts."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer.errors import ConfigError
from runners import captured
from runners.capture import manifest
from runners.capture.chunks import Chunks
from runners.captured import CaptureError, Place

DATA = np.arange(3000, dtype=np.float32).view(np.uint8)
AFTER = (np.arange(3000, dtype=np.float32) * 2).view(np.uint8)
INIT = Place("cap", 0, 0).init


def _capture(folder: Path) -> dict[str, Any]:
    chunks = Chunks(folder)
    pointer = {
        "is": "pointer",
        "place": 0,
        "memory": "device",
        "allocation": 0,
        "offset": 0,
        "whole": len(DATA),
        "size": len(DATA),
        "before": chunks.put(DATA),
        "after": chunks.put(AFTER),
        "changed": [4, len(DATA)],
    }
    value = {"is": "value", "place": 8, "hex": "b80b0000"}
    launch = {
        "ordinal": 0,
        "count": 3,
        "repeated": False,
        "grid": [12, 1, 1],
        "block": [256, 1, 1],
        "shared": 0,
        "arguments": [pointer, value],
    }
    kernel = {"symbol": "_Z1kPfi", "name": "k(float*, int)", "seen": 3, "launches": [launch]}
    return {
        "version": 1,
        "date": "2026-11-21",
        "command": ["./app"],
        "through": "cupti",
        "randomized": False,
        "kernels": [kernel],
    }


def _write(folder: Path, told: object) -> None:
    (folder / captured.FILE).write_text(json.dumps(told))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "cap"
    made.mkdir()
    _write(made, _capture(made))
    return made


def test_contents_come_back_as_they_were(folder: Path, tmp_path: Path) -> None:
    assert manifest.read(folder).kernels[0].launches[0].count == 3
    case = {"launch": 0.0}
    assert captured.contents(tmp_path, INIT, case, 3000, 4).tobytes() == DATA.tobytes()
    assert captured.contents(tmp_path, INIT, case, 10, 4).tobytes() == DATA[:40].tobytes()
    after = captured.expected(tmp_path, INIT, case, len(DATA))
    assert after is not None
    assert after.tobytes() == AFTER.tobytes()
    assert captured.expected(tmp_path, INIT, case, len(DATA) + 4) is None


def test_more_values_than_there_are_repeat_whole_ones(folder: Path, tmp_path: Path) -> None:
    found = captured.contents(tmp_path, INIT, {"launch": 0.0}, 7000, 4).view(np.float32)
    assert np.array_equal(found, np.resize(DATA.view(np.float32), 7000))


def test_contents_longer_than_a_chunk_are_put_together(tmp_path: Path) -> None:
    """And equal chunks are kept once."""
    folder = tmp_path / "cap"
    folder.mkdir()
    told = _capture(folder)
    chunks = Chunks(folder)
    data = np.zeros(2 * captured.CHUNK + 12, np.uint8)
    data[-12:] = 7
    pointer = told["kernels"][0]["launches"][0]["arguments"][0]
    pointer.update(
        size=len(data), whole=len(data), before=chunks.put(data), after=None, changed=None
    )
    assert pointer["before"][0] == pointer["before"][1]
    assert chunks.stored < len(data) / 100
    _write(folder, told)
    manifest.read(folder)
    found = captured.contents(tmp_path, INIT, {"launch": 0.0}, len(data), 1)
    assert found.tobytes() == data.tobytes()
    assert captured.expected(tmp_path, INIT, {"launch": 0.0}, 4) is None


@pytest.mark.parametrize(
    "init",
    [
        "capture:",
        "capture:cap",
        "capture:cap:0",
        "capture:cap:x:0",
        "capture:cap:0:-1",
        "capture:cap:99999:0",
        "capture:cap:0:1",
        "capture:cap:1:0",
        "capture:cap:0:2",
        "capture:../cap:0:0",
        "capture:/etc:0:0",
        "capture:nowhere:0:0",
        "capture:ca\0p:0:0",
    ],
)
def test_an_init_that_names_nothing_usable_is_refused(
    folder: Path, tmp_path: Path, init: str
) -> None:
    with pytest.raises(CaptureError):
        captured.contents(tmp_path, init, {"launch": 0.0}, 1, 4)


@pytest.mark.parametrize("number", [1.0, -1.0, 0.5, 2.0**60])
def test_a_launch_that_is_not_there_is_refused(folder: Path, tmp_path: Path, number: float) -> None:
    with pytest.raises(CaptureError):
        captured.contents(tmp_path, INIT, {"launch": number}, 1, 4)


def _first_chunk(folder: Path) -> Path:
    digest = json.loads((folder / captured.FILE).read_text())["kernels"][0]["launches"][0][
        "arguments"
    ][0]["before"][0]
    path: Path = next((folder / "chunks" / digest[:2]).glob(f"{digest}*"))
    return path


def _raw(data: bytes) -> bytes:
    return data


def _zeros(blocks: int) -> bytes:
    """Return that many MiB of zeros, packed: each MiB stands alone, so one is like the other."""
    machine = zlib.compressobj(9)
    mib = bytes(1 << 20)
    first, other = (machine.compress(mib) + machine.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    end = machine.flush()[:-4]
    checksum = (blocks << 20) % 65521 << 16 | 1  # Adler-32 of nothing but zeros
    return first + other * (blocks - 1) + end + checksum.to_bytes(4, "big")


@pytest.mark.parametrize("what", ["other", "short", "long", "bomb", "torn", "gone", "link", "pipe"])
def test_a_chunk_that_is_not_what_its_name_says_is_refused(
    folder: Path, tmp_path: Path, what: str
) -> None:
    path = _first_chunk(folder)
    packed = path.suffix == ".z"
    pack = zlib.compress if packed else _raw
    good = DATA.tobytes()
    path.unlink()
    if what == "link":
        secret = tmp_path / "secret"
        secret.write_bytes(pack(good))
        path.symlink_to(secret)
    elif what == "pipe":
        os.mkfifo(path)
    elif what == "bomb":  # a gigabyte of zeros in a megabyte
        path.with_suffix(".z").write_bytes(_zeros(1024))
    elif what != "gone":
        data = {"other": good[:-1] + b"x", "short": good[:-1], "long": good + b"x", "torn": good}
        path.write_bytes(pack(data[what])[: 10 if what == "torn" else None])
    with pytest.raises(CaptureError):
        captured.contents(tmp_path, INIT, {"launch": 0.0}, 3000, 4)


def test_a_folder_that_leads_out_by_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "cap").symlink_to(folder)
    with pytest.raises(CaptureError, match="leads out"):
        captured.contents(project, INIT, {"launch": 0.0}, 1, 4)


def test_a_size_beyond_all_memory_is_refused_before_it_is_used(
    folder: Path, tmp_path: Path
) -> None:
    told = json.loads((folder / captured.FILE).read_text())
    told["kernels"][0]["launches"][0]["arguments"][0]["size"] = 1 << 60
    _write(folder, told)
    with pytest.raises(CaptureError, match="size"):
        captured.contents(tmp_path, INIT, {"launch": 0.0}, 1, 4)
    with pytest.raises(ConfigError, match="size"):
        manifest.read(folder)


def test_a_file_too_large_or_no_json_is_refused(folder: Path) -> None:
    path = folder / captured.FILE
    for text in ("", "{", "[" * 100_000, "nonsense", "\0", '{"version": 1}'):
        path.write_text(text)
        with pytest.raises(ConfigError):
            manifest.read(folder)
    with path.open("wb") as stream:
        stream.truncate(captured.MOST_FILE_BYTES + 1)
    with pytest.raises(ConfigError, match="MiB"):
        manifest.read(folder)
    path.unlink()
    with pytest.raises(ConfigError, match=r"capture\.json"):
        manifest.read(folder)


BAD: dict[str, tuple[tuple[str | int, ...], object]] = {
    "version": (("version",), 2),
    "unknown key": (("more",), 1),
    "text for a number": (("kernels", 0, "seen"), "3"),
    "negative": (("kernels", 0, "seen"), -1),
    "no launches": (("kernels", 0, "launches"), []),
    "source above": (("kernels", 0, "source"), "/etc/passwd"),
    "line ends in a name": (("kernels", 0, "name"), "k\n\x1b[31m"),
    "grid of two": (("kernels", 0, "launches", 0, "grid"), [1, 1]),
    "grid of zero": (("kernels", 0, "launches", 0, "grid"), [0, 1, 1]),
    "block of 2048": (("kernels", 0, "launches", 0, "block"), [1024, 2, 1]),
    "shared memory": (("kernels", 0, "launches", 0, "shared"), 1 << 30),
    "chunks missing": (("kernels", 0, "launches", 0, "arguments", 0, "before"), []),
    "no digest": (("kernels", 0, "launches", 0, "arguments", 0, "before"), ["../../x"]),
    "beyond": (("kernels", 0, "launches", 0, "arguments", 0, "whole"), 8),
    "changed outside": (("kernels", 0, "launches", 0, "arguments", 0, "changed"), [0, 1 << 40]),
    "odd digits": (("kernels", 0, "launches", 0, "arguments", 1, "hex"), "b80"),
    "no digits": (("kernels", 0, "launches", 0, "arguments", 1, "hex"), "wxyz"),
    "argument of no kind": (("kernels", 0, "launches", 0, "arguments", 1, "is"), "thing"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_word_is_refused_with_its_place(folder: Path, name: str) -> None:
    path, value = BAD[name]
    told = json.loads((folder / captured.FILE).read_text())
    at: Any = told
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    _write(folder, told)
    with pytest.raises(ConfigError) as caught:
        manifest.read(folder)
    assert captured.FILE in caught.value.message


_SCRAP = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["0" * 64, "..", "/", "pointer", "value", "ff"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_whatever_is_in_the_file_there_is_an_answer_or_one_error(
    folder: Path, tmp_path: Path, data: st.DataObject
) -> None:
    """Any part of a good file replaced by anything: no crash, and nothing read outside."""
    told = _capture(folder)
    for _ in range(data.draw(st.integers(1, 3))):
        at: Any = told
        while isinstance(at, dict | list) and at:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            key = data.draw(st.sampled_from(keys))
            if data.draw(st.booleans()) or not isinstance(at[key], dict | list):
                at[key] = data.draw(_SCRAP)
                break
            at = at[key]
    captured._loaded.cache_clear()
    _write(folder, copy.deepcopy(told))
    with suppress(CaptureError):
        captured.contents(tmp_path, INIT, {"launch": 0.0}, 3000, 4)
        captured.expected(tmp_path, INIT, {"launch": 0.0}, 12000)
    with suppress(ConfigError):
        manifest.read(folder)


@given(st.binary(min_size=1, max_size=300))
def test_whatever_a_chunk_holds_it_is_its_digest_or_refused(data: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        digest = hashlib.sha256(data).hexdigest()
        (folder / "chunks" / digest[:2]).mkdir(parents=True)
        (folder / "chunks" / digest[:2] / f"{digest}.z").write_bytes(data)
        with pytest.raises(CaptureError):
            captured.chunk(folder, digest, len(data))
        (folder / "chunks" / digest[:2] / f"{digest}.z").unlink()
        (folder / "chunks" / digest[:2] / digest).write_bytes(data)
        assert captured.chunk(folder, digest, len(data)).tobytes() == data


@pytest.mark.parametrize("what", ["pipe", "device", "link", "folder"])
def test_a_captures_file_that_is_no_ordinary_one_is_not_read(
    folder: Path, tmp_path: Path, what: str
) -> None:
    """A pipe is read for ever; a link may lead to a device that never ends, or to a secret."""
    path = folder / captured.FILE
    secret = path.rename(tmp_path / "secret")
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    elif what == "link":
        path.symlink_to(secret)
    else:
        path.mkdir()
    with pytest.raises(CaptureError):
        captured.contents(tmp_path, INIT, {"launch": 0.0}, 1, 4)
    with pytest.raises(ConfigError):
        manifest.read(folder)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_launch_that_is_no_number_is_refused(folder: Path, tmp_path: Path, number: float) -> None:
    with pytest.raises(CaptureError, match="no launch"):
        captured.contents(tmp_path, INIT, {"launch": number}, 1, 4)


def test_contents_that_the_host_has_no_room_for_are_refused_before_they_are_read(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One chunk named four thousand times: four bytes of file for each MiB of memory."""
    told = json.loads((folder / captured.FILE).read_text())
    pointer = told["kernels"][0]["launches"][0]["arguments"][0]
    size = captured.MOST_BYTES
    digests = pointer["before"] * (size // captured.CHUNK)
    pointer.update(size=size, whole=size, before=digests, after=None, changed=None)
    _write(folder, told)
    assert manifest.read(folder).version == 1
    monkeypatch.setattr(captured, "_available", lambda: 20 << 30)
    with pytest.raises(CaptureError, match="of memory are available"):
        captured.contents(tmp_path, INIT, {"launch": 0.0}, size, 1)
    with pytest.raises(CaptureError, match="what its name says"):  # of what there is room for
        captured.contents(tmp_path, INIT, {"launch": 0.0}, 1 << 20, 1)
