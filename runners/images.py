"""Code of our own: built once a machine, and handed to workers, whose /tmp is empty.

Stdlib only.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runners import native
from runners.clean_names import require_ours
from runners.fault import Fault

HELPERS = Path(__file__).with_name("device_kernels.cu")
CALIBRATION = Path(__file__).with_name("calibrate.cu")
SCANNING = Path(__file__).with_name("scanning")
BUILD_SECONDS = 300.0


def helper_image(sm: int) -> bytes:
    """Return the compiled helper kernels for an architecture, 90 for 9.0. Raise `Fault`."""
    return _own(HELPERS, sm)


def calibration_image(sm: int) -> bytes:
    """Return the compiled kernels that measure peaks."""
    return _own(CALIBRATION, sm)


def prepared(folder: Path, nvcc: Path, sm: int, *, calibrates: bool = False) -> Path | None:
    """Return a folder with what workers load, built there where it is missing.

    None where that cannot be done, or others may write there: then each worker builds its own,
    a second each, or says why not.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        seen = folder.stat()
        if seen.st_uid != os.getuid() or seen.st_mode & 0o022:
            return None
        sources = (HELPERS, CALIBRATION) if calibrates else (HELPERS,)
        with ThreadPoolExecutor(len(sources) + 1) as pool:
            pool.submit(_scanning, folder)
            list(pool.map(lambda source: _built(source, sm, str(nvcc), folder), sources))
    except (OSError, Fault):
        return None
    return folder


def take_over(folder: Path) -> None:
    """Put what was built outside where this process and those it starts look for it."""
    own = own_folder()
    if own is None:
        return
    with contextlib.suppress(OSError):  # it is built again then
        for image in (*folder.glob("*.cubin"), *folder.glob("optiml-scanning-*.so")):
            # Named by what is in it; and where /tmp is shared, others have it mapped.
            if not (own / image.name).exists():
                _kept(own / image.name, image.read_bytes())


def scanning(folder: Path) -> Path:
    """Return the library that goes over outputs, built into a folder if it is not there.

    Raise `Fault`.
    """
    return native.built(SCANNING, "optiml-scanning", folder, "outputs are compared")


def _scanning(folder: Path) -> None:
    with contextlib.suppress(Fault, OSError, subprocess.SubprocessError):
        scanning(folder)  # else outputs are compared without it


def _own(source: Path, sm: int) -> bytes:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return _built(source, sm, nvcc, own_folder())


def own_folder() -> Path | None:
    """Return a folder of this user's that nobody else can write to, if there is one."""
    folder = Path(tempfile.gettempdir()) / f"optiml-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    seen = folder.lstat()
    own = stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid()
    return folder if own and seen.st_mode & 0o022 == 0 else None


def _built(source: Path, sm: int, nvcc: str, folder: Path | None) -> bytes:
    """Compile a source to a cubin, once per text and architecture; keep it in a folder."""
    text = source.read_bytes()
    key = hashlib.sha256(text + f"\0{sm}".encode()).hexdigest()[:20]
    kept = folder / f"{source.stem}-{key}.cubin" if folder is not None else None
    if kept is not None and kept.is_file():
        return kept.read_bytes()
    with tempfile.TemporaryDirectory() as scratch:
        # Not from where it lies: a shell reads nvcc's words, and that may be anybody's folder.
        remedy = "set TMPDIR to a folder whose name has letters, digits and . _ + - only"
        require_ours(Path(scratch), "the folder for temporary files,", remedy)
        target, copied = Path(scratch) / f"{source.stem}.cubin", Path(scratch) / source.name
        copied.write_bytes(text)
        command = [nvcc, "-cubin", f"-arch=sm_{sm}", "-O3", "-o", str(target), str(copied)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
            )
        except OSError as error:
            raise Fault(
                "NoDeviceError", "nvcc is not installed here", "install the CUDA toolkit"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise Fault(
                "RunnerError", "nvcc does not end", "see whether the host is busy"
            ) from error
        if done.returncode != 0:
            raise Fault(
                "RunnerError",
                f"nvcc cannot compile for sm_{sm}: {(done.stderr or done.stdout).strip()[-400:]}",
                "install a CUDA toolkit that knows this GPU",
            )
        image = target.read_bytes()
    if kept is not None:
        _kept(kept, image)
    return image


def _kept(target: Path, data: bytes) -> None:
    """Put a file in its place as a whole."""
    fresh = target.with_name(f".{target.name}-{os.urandom(4).hex()}")
    fresh.write_bytes(data)
    fresh.replace(target)
