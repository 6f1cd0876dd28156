"""Archives and JSON from strangers: within limits, or refused with one kind of error."""

import contextlib
import io
import os
import re
import struct
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.orders import BundleError
from bot.untrusted import Limits, TextLimits, json_of, members_of_folder, members_of_zip

NAMES = re.compile(r"[a-z]+\.json")
SMALL = Limits(archive=4096, member=1000, total=1500, members=3)
TEXTS = TextLimits(usual=10, by_key={"source": 100}, values=50)


def packed(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that occur twice
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                archive.writestr(name, data)
    return buffer.getvalue()


def test_members_come_back_as_they_were() -> None:
    data = packed(("a.json", b"1"), ("b.json", b"2" * 900))
    assert members_of_zip(data, NAMES, SMALL) == {"a.json": b"1", "b.json": b"2" * 900}


class Pipe(io.RawIOBase):
    """A stream that cannot go back, as uploads are."""

    def __init__(self) -> None:
        self.data = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += data
        return len(data)


def test_an_archive_written_as_a_stream_is_read_as_uploads_make_it() -> None:
    pipe = Pipe()
    packing = zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED)
    with packing as archive, archive.open("a.json", "w") as file:
        file.write(b"[1]")
    assert pipe.data[6] & 8, "sizes come after the data"
    assert members_of_zip(bytes(pipe.data), NAMES, SMALL) == {"a.json": b"[1]"}


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


def lying_about_size(data: bytes) -> bytes:
    """Make the directory say that the member unpacks to 5 bytes."""
    at = data.index(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<I", 5) + data[at + 28 :]


@pytest.mark.parametrize(
    "data",
    [
        packed(("../a.json", b"1")),
        packed(("/a.json", b"1")),
        packed(("a.json/", b"")),
        packed(("c:\\a.json", b"1")),
        packed(("a.json~.exe", b"1")).replace(b"~", b"\0"),
        packed(("a.json", b"1"), ("a.json", b"2")),
        packed((link("a.json"), b"/etc/passwd")),
        packed(("a.json", b"0" * 1001)),
        packed(("a.json", b"0" * 900), ("b.json", b"0" * 900)),
        packed(*((f"{letter}.json", b"") for letter in "abcd")),
        lying_about_size(packed(("a.json", b"0" * 3000))),
        packed(("a.json", os.urandom(5000))),
        packed(("a.json", b"1")) + b"tail",
        b"PK",
        b"",
    ],
)
def test_an_archive_no_bundle_would_be_is_refused(data: bytes) -> None:
    with pytest.raises(BundleError):
        members_of_zip(data, NAMES, SMALL)


def test_a_directory_with_a_million_entries_is_refused_before_it_is_read() -> None:
    data = bytearray(packed(("a.json", b"1")))
    data[-12:-10] = struct.pack("<H", 60_000)
    with pytest.raises(BundleError, match="more than 3 members"):
        members_of_zip(bytes(data), NAMES, SMALL)


@given(st.binary(max_size=300) | st.binary(max_size=100).map(lambda tail: b"PK\x03\x04" + tail))
@example(b"PK\x05\x06" + b"\0" * 18)
def test_any_bytes_give_members_or_a_bundle_error(data: bytes) -> None:
    with contextlib.suppress(BundleError):
        assert members_of_zip(data, NAMES, SMALL) == {}


@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=6))
def test_an_archive_with_flipped_bytes_gives_members_or_a_bundle_error(
    flips: list[tuple[int, int]],
) -> None:
    data = bytearray(packed(("a.json", b"[1, 2]"), ("b.json", b"{}" * 40)))
    for at, value in flips:
        data[at % len(data)] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = members_of_zip(bytes(data), NAMES, SMALL)
        except BundleError:
            return
    assert all(NAMES.fullmatch(name) and len(one) <= 1000 for name, one in found.items())


def test_links_pipes_and_strange_names_in_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"1")
    assert members_of_folder(tmp_path, NAMES, SMALL) == {"a.json": b"1"}
    for make in (
        lambda path: path.symlink_to("/etc/hostname"),
        os.mkfifo,
        lambda path: path.mkdir(),
        lambda path: path.write_bytes(b"0" * 1001),
    ):
        place = tmp_path / "b.json"
        make(place)
        with pytest.raises(BundleError):
            members_of_folder(tmp_path, NAMES, SMALL)
        place.rmdir() if place.is_dir() else place.unlink()
    (tmp_path / "x.sh").touch()
    with pytest.raises(BundleError, match="no bundle holds"):
        members_of_folder(tmp_path, NAMES, SMALL)
    with pytest.raises(BundleError, match="cannot be read"):
        members_of_folder(tmp_path / "missing", NAMES, SMALL)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 99999999999999999999}',
        '{"a": ' + "9" * 5000 + "}",
        '{"a": 1, "a": 2}',
        '{"a": "12345678901"}',
        '{"a": "x\\u0000"}',
        '{"a": "\\ud800"}',
        '{"' + "k" * 1001 + '": 1}',
        "[" * 30 + "]" * 30,
        "[" * 100_000 + "]" * 100_000,
        "[" + "1," * 60 + "1]",
        '{"source": "' + "x" * 101 + '"}',
        "{",
        "",
        '{"a": "\udcff"}',
    ],
    ids=lambda text: text[:20].encode("ascii", "replace").decode(),
)
def test_json_with_what_no_bundle_holds_is_refused(text: str) -> None:
    with pytest.raises(BundleError):
        json_of(text.encode("utf-8", "surrogateescape"), "it", TEXTS)


def test_sound_json_comes_back_and_texts_are_held_to_the_limit_of_their_key() -> None:
    data = {"a": [1, 2.5, None, True], "source": "x" * 100}
    assert json_of(b'{"a": [1, 2.5, null, true], "source": "%s"}' % (b"x" * 100), "", TEXTS) == data
