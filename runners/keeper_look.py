"""What a command uses that no control group counts here: processes, memory, disk.

Stdlib only, and no pathlib: `runners.launcher` forks for each command.
"""
# ruff: noqa: PTH112, PTH116, PTH208

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from typing import Any

from runners.keeper_files import open_folder, read

# How often the keeper looks, in seconds, and how many files it counts before that is too many.
LOOK_SECONDS, LOOK_DISK_SECONDS, MOST_FILES = 0.1, 0.5, 100_000
# Deeper than any project is; what is open at once; threads for each process that is allowed.
MOST_DEPTH, MOST_DESCRIPTORS, MOST_THREADS = 400, 20_000, 16
# A dear look is followed by a pause that many times as long, within bounds.
PAUSE_SHARE, LONGEST_PAUSE_SECONDS = 10, 2.0
WEIGHINGS = 3  # that pass the limit while processes end, until it is believed
# Of this machine's memory, what is left to a command where nothing but the keeper bounds it: less
# than to the worker that it may run in, so that its limit comes first.
LARGEST_SHARE, WORKERS_SHARE = 0.75, 0.9
SHORT_SHARE = 0.125  # of the memory or disk: with less than that available, there is little left
RAM_FOLDERS = ("/tmp", "/dev")  # noqa: S108 - file systems in memory, in a root of our making


class Look:
    """What a command's processes use, read from /proc and its folders now and then.

    Made before the namespaces are entered: it has to know what of the host's they are to leave out.
    """

    def __init__(self, proc: int, spec: dict[str, Any]) -> None:
        most = spec["watch"]
        self._proc = proc
        self._processes, self._folders = most.get("processes"), list(most.get("folders", ()))
        if spec["landlock"]:
            self._folders.append(spec["tmp"])  # a folder of the host's, as the others are
        self._disk = most.get("disk_bytes")
        self._memory = most.get("memory_bytes")
        page = os.sysconf("SC_PAGE_SIZE")
        if self._memory:
            share = WORKERS_SHARE if spec["nests"] else LARGEST_SHARE
            self._memory = min(self._memory, int(os.sysconf("SC_PHYS_PAGES") * page * share))
        self.seconds = LOOK_SECONDS if self._processes or self._memory else LOOK_DISK_SECONDS
        self._turns = max(1, round(LOOK_DISK_SECONDS / self.seconds))
        self._turn = 0
        self._keeper, self._first, self._nests = os.getpid(), 0, spec["nests"]
        probe = os.memfd_create("probe")
        self._shared_device = os.fstat(probe).st_dev  # of memfds and of what is mapped shared
        os.close(probe)
        self._hosts = {os.stat(one).st_dev for one in ("/", *RAM_FOLDERS) if os.path.isdir(one)}
        self._shared_before = self._machine().get("Shmem", 0)
        self._free_before = {one: self._free(one)[0] for one in self._folders}
        # Of the last look at descriptors and file systems in memory, which is not always repeated.
        self._held: set[tuple[int, int]] = set()
        self._own_devices: set[int] = set()
        self._held_bytes = self._unlinked_bytes = 0
        self._hidden: set[int] = set()
        self._held_at = self._exact_at = 0.0
        self._passed = 0  # how often the limit was, when weighed, in a row

    def begin(self, first: int) -> None:
        """Look from now on, at what this process and the first of the command's start."""
        self._first = first

    def exceeded(self) -> str:
        """Name the limit that is passed, if one is."""
        self._turn += 1
        processes, disk_turn = self._processes, self._turn % self._turns == 0
        family, tasks = self._family(processes or 1 << 20)
        if processes and (len(family) > processes or tasks > MOST_THREADS * processes):
            return "processes"
        now = time.monotonic()
        fresh = now >= self._held_at
        if fresh:
            over = self._look_at_descriptors(family)
            took = time.monotonic() - now
            self._held_at = now + took + min(PAUSE_SHARE * took, LOOK_DISK_SECONDS)
            if over:
                return over
        if self._memory and self._too_much_memory(family, self._memory):
            if fresh or not self._held_bytes:
                return "memory"
            self._held_at = 0.0  # with what is held now, which may be less than it was
        if self._disk and disk_turn:
            return self._look_at_folders(self._disk)
        return ""

    def _family(self, most: int) -> tuple[list[int], int]:
        """Return the pids of all descendants, a few more than `most` of many, and their threads.

        What lost its parent may have become the keeper's own child: those that ended are collected.
        """
        found: list[int] = []
        tasks, new = 0, self._children(self._keeper)[0]
        for pid in new:
            if pid != self._first:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
        while new and len(found) <= most and tasks <= MOST_THREADS * most:
            pid = new.pop()
            found.append(pid)
            children, threads = self._children(pid)
            new += children
            tasks += threads
        return found, tasks

    def _children(self, pid: int) -> tuple[list[int], int]:
        found: list[int] = []
        tasks: list[str] = []
        with contextlib.suppress(OSError, ValueError):
            folder = open_folder(f"{pid}/task", self._proc)
            try:
                tasks = os.listdir(folder)
                for task in tasks:
                    found += [int(word) for word in read(f"{task}/children", folder).split()]
            finally:
                os.close(folder)
        return found, len(tasks)

    # -- memory ------------------------------------------------------------------------------------

    def _too_much_memory(self, family: list[int], most: int) -> bool:
        """Tell whether processes, open files in memory and file systems in memory pass a limit.

        Cheap bounds decide almost always. Only where pages may be shared, by mapping or by fork,
        are they weighed one by one, which takes the kernel some 50 ms a GiB.
        """
        private, mapped, living = [], 0, []
        for pid in family:
            held = self._status(pid)
            if "VmRSS" in held:
                living.append(pid)
            private.append(held.get("RssAnon", 0) + held.get("VmSwap", 0))
            mapped += held.get("RssShmem", 0)
        if max(private, default=0) + self._held_bytes > most:
            return True  # pages of one process, and what has no page in common with them
        if sum(private) + mapped + self._held_bytes > most:
            now = time.monotonic()
            if now >= self._exact_at:
                if self._weighed(family) > most:
                    # Shares grow while others end, so what is weighed later weighs too much then.
                    self._passed += 1
                    lasting = all("VmRSS" in self._status(pid) for pid in living)
                    if lasting or self._passed == WEIGHINGS:
                        return True
                else:
                    took = time.monotonic() - now
                    self._passed = 0
                    self._exact_at = now + took + min(4 * took, LONGEST_PAUSE_SECONDS)
        # Memory may hang on what nobody can look at: on a descriptor that is under way between two
        # sockets, on the last page that is mapped of a large file. It is the machine's shortage
        # that shows it then; not in a worker, which is ours and beside which others fill it, too.
        if self._turn % self._turns == 0 and not self._nests:
            machine = self._machine()
            grown = machine.get("Shmem", 0) - self._shared_before - mapped - self._held_bytes
            short = machine.get("MemAvailable", 0) < SHORT_SHARE * machine.get("MemTotal", 0)
            return short and grown > most
        return False

    def _weighed(self, family: list[int]) -> int:
        """Return what processes hold in bytes, a page that several map shared out among them."""
        total = self._held_bytes
        for pid in family:
            rollup = self._fields(f"{pid}/smaps_rollup")
            if "Pss_Anon" in rollup:
                total += rollup["Pss_Anon"] + rollup["Pss_Shmem"] + rollup.get("SwapPss", 0)
            else:  # not shown to us, or by a kernel before 5.9
                status = self._status(pid)
                total += sum(status.get(key, 0) for key in ("RssAnon", "RssShmem", "VmSwap"))
        return total - (sum(map(self._counted_twice, family)) if self._held_bytes else 0)

    def _counted_twice(self, pid: int) -> int:
        """Return what a process maps, in bytes, of files whose size is counted."""
        twice, share, counted = 0, 0, False
        try:
            text = read(f"{pid}/smaps", self._proc)
        except OSError:
            return 0
        for line in text.split("\n"):
            key, _, rest = line.partition(" ")
            if not key.endswith(":"):
                words = rest.split()
                if len(words) >= 4:
                    major, minor = (int(word, 16) for word in words[2].split(":"))
                    device = os.makedev(major, minor)
                    counted = device in self._own_devices or (device, int(words[3])) in self._held
            elif counted and key == "Pss:":
                share = int(rest.split()[0]) << 10
            elif counted and key == "Anonymous:":  # copies of pages, which are not the file's
                twice += max(0, share - (int(rest.split()[0]) << 10))
        return twice

    def _status(self, pid: int) -> dict[str, int]:
        return self._fields(f"{pid}/status")

    def _machine(self) -> dict[str, int]:
        return self._fields("meminfo")

    def _fields(self, path: str) -> dict[str, int]:
        """Return the fields that are in kB of a file in /proc, in bytes."""
        found = {}
        with contextlib.suppress(OSError, ValueError):
            for line in read(path, self._proc).split("\n"):
                key, _, value = line.removesuffix(" kB").partition(":")
                if value and line.endswith(" kB") and value.strip().isdecimal():
                    found[key] = int(value) << 10  # the name of a process may look like anything
        return found

    # -- what no path leads to ---------------------------------------------------------------------

    def _look_at_descriptors(self, family: list[int]) -> str:
        """Sum up what is open and has no name, or lies in memory; name what passes all bounds."""
        seen: set[tuple[int, int]] = set()
        self._held, self._held_bytes, self._unlinked_bytes = set(), 0, 0
        if self._memory:
            self._look_at_file_systems(family)
        hidden, count = set(), 0
        for pid in family:
            try:
                folder = open_folder(f"{pid}/fd", self._proc)
            except PermissionError:
                hidden.add(pid)
                continue
            except OSError:
                continue
            try:
                names = os.listdir(folder)
                count += len(names)
                if count > MOST_DESCRIPTORS:
                    return "files"
                for name in names:
                    try:
                        found = os.stat(name, dir_fd=folder)
                    except PermissionError:
                        hidden.add(pid)
                        break
                    except OSError:
                        continue
                    key = (found.st_dev, found.st_ino)
                    if stat.S_ISREG(found.st_mode) and key not in seen:
                        seen.add(key)
                        self._count(found)
            except OSError:  # it has ended
                continue
            finally:
                os.close(folder)
        return self._look_at_hidden(hidden)

    def _count(self, found: os.stat_result) -> None:
        if found.st_dev == self._shared_device:
            self._held.add((found.st_dev, found.st_ino))
            self._held_bytes += found.st_blocks * 512
        elif found.st_nlink == 0 and found.st_dev not in self._own_devices:
            self._unlinked_bytes += found.st_blocks * 512

    def _look_at_file_systems(self, family: list[int]) -> None:
        """Sum up what lies in file systems in memory that are the command's alone."""
        self._own_devices, seen = set(), set()
        for pid in family:
            with contextlib.suppress(OSError):
                view = os.stat(f"{pid}/ns/mnt", dir_fd=self._proc).st_ino
                if view in seen:
                    continue
                seen.add(view)
                for name in RAM_FOLDERS:
                    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                    place = os.open(f"{pid}/root{name}", flags, dir_fd=self._proc)
                    try:
                        device, used = os.fstat(place).st_dev, os.statvfs(place)
                    finally:
                        os.close(place)
                    if device not in self._hosts and device not in self._own_devices:
                        self._own_devices.add(device)
                        self._held_bytes += (used.f_blocks - used.f_bfree) * used.f_frsize

    def _look_at_hidden(self, hidden: set[int]) -> str:
        """Tell of a process that keeps us from looking, in this look and the last.

        A process may (PR_SET_DUMPABLE), and nothing that is asked of a command here needs it. Where
        this host never lets us look, it is not the process that hides. In a worker it is our own
        code that does, and looks itself at what it starts.
        """
        if self._nests:
            return ""
        hidden.discard(self._first)  # ours, and hidden from the command
        both, self._hidden = hidden & self._hidden, hidden
        for pid in both:
            with contextlib.suppress(OSError, ValueError, IndexError):
                owner = os.stat(f"{pid}/fd", dir_fd=self._proc).st_uid
                text = read(f"{pid}/status", self._proc)
                user = int(text.partition("\nUid:")[2].split()[1])
                if owner != user or self._sees(self._first):
                    return "memory" if self._memory else "disk"
        return ""

    def _sees(self, pid: int) -> bool:
        try:
            os.stat(f"{pid}/fd/0", dir_fd=self._proc)
        except PermissionError:
            return False
        except OSError:
            return True
        return True

    # -- disk --------------------------------------------------------------------------------------

    def _look_at_folders(self, most: int) -> str:
        """Count what lies in the folders, and what is open and lies in them no more."""
        size, seen = self._unlinked_bytes, 0
        pending = [(folder, 0) for folder in self._folders]
        while pending:
            path, depth = pending.pop()
            try:
                with os.scandir(path) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > MOST_FILES or depth > MOST_DEPTH:
                            return "files"
                        if entry.is_dir(follow_symlinks=False):
                            pending.append((entry.path, depth + 1))
                        else:
                            size += entry.stat(follow_symlinks=False).st_blocks * 512
            except OSError as error:
                if _out_of_reach(error, path):
                    return "files"
        # A file may hang on nothing but a page that is mapped of it. As with memory, it is seen
        # when there is little left.
        for folder, before in () if self._nests else self._free_before.items():
            free, short = self._free(folder)
            if short and before - free - size > most:
                return "disk"
        return "disk" if size > most else ""

    @staticmethod
    def _free(folder: str) -> tuple[int, bool]:
        """Return what is free where a folder lies, in bytes, and whether that is little."""
        try:
            found = os.statvfs(folder)
        except OSError:
            return 0, False
        return found.f_bfree * found.f_frsize, found.f_bavail < SHORT_SHARE * found.f_blocks


def _out_of_reach(error: OSError, path: str) -> bool:
    """Tell whether a command made a folder that its keeper cannot look into; nobody needs one."""
    if error.errno == errno.ENAMETOOLONG:
        return True
    if error.errno not in {errno.EACCES, errno.EPERM}:
        return False  # gone, or a file by now
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError as above:
        return above.errno == errno.ENAMETOOLONG
