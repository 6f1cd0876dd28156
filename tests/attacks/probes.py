"""What hostile host code tries, as C++ that returns 0 when it got nowhere.

Each body is the inside of `static int probe()`. The same text runs as a program in the sandbox
(tests/attacks) and as host code of an entry function or program on a GPU (tests/gpu). Bombs are
bounded by construction: where containment fails they must not take the machine with them.
`SECRET` is a file's path, `MARK` a text that some environment and that file hold, `PORT` a port
on which the host listens.
"""

from __future__ import annotations

PRELUDE = r"""
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
extern char** environ;
namespace attack {
static std::string mark() { return std::string("OPTIML_") + "PLANTED"; }
static std::string text_of(const std::string& path) {
    std::string all;
    int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    if (fd < 0) return all;
    char part[4096];
    for (ssize_t n; all.size() < 65536 && (n = read(fd, part, sizeof part)) > 0;) all.append(part, n);
    close(fd);
    return all;
}
static bool connects(int family, const sockaddr* to, socklen_t size, int kind = SOCK_STREAM) {
    int s = socket(family, kind | SOCK_NONBLOCK, 0);
    if (s < 0) return false;
    bool got = connect(s, to, size) == 0;
    if (!got && errno == EINPROGRESS) {
        pollfd wait{s, POLLOUT, 0};
        int error = 1;
        socklen_t length = sizeof error;
        got = poll(&wait, 1, 300) == 1 &&
              getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
    }
    if (got && kind == SOCK_DGRAM) got = send(s, "x", 1, 0) == 1;
    close(s);
    return got;
}
static bool reaches(const char* address, int port, int kind = SOCK_STREAM) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address, &to.sin_addr);
    return connects(AF_INET, (sockaddr*)&to, sizeof to, kind);
}
"""

# Name of the attack, what it tries, and how.
QUIET: dict[str, tuple[str, str]] = {
    "read secrets": (
        "files of the user, keys, the shadow file, a planted file",
        r"""
        for (const char* path : {SECRET, "/etc/shadow", "/root/.ssh/id_rsa", "/root/.netrc",
                                 "/root/.bash_history", "/root/.bashrc", "/root/.profile",
                                 "/var/run/secrets/kubernetes.io/serviceaccount/token",
                                 "/run/docker.sock", "/etc/ssl/private"})
            if (open(path, O_RDONLY) >= 0) return 1;
        return 0;""",
    ),
    "environment": (
        "variables of this process and of every process it can see",
        r"""
        for (char** e = environ; *e; ++e)
            if (strstr(*e, mark().c_str()) || strstr(*e, "TOKEN=") || strstr(*e, "API_KEY=")) return 1;
        DIR* proc = opendir("/proc");
        for (dirent* e; proc && (e = readdir(proc));)
            if (atoi(e->d_name) > 0 &&
                text_of(std::string("/proc/") + e->d_name + "/environ").find(mark()) != std::string::npos)
                return 2;
        return 0;""",
    ),
    "parent": (
        "trace, read, write and signal the processes above",
        r"""
        for (int pid : {getppid(), HOST_PID}) {
            if (pid <= 1) continue;
            if (text_of("/proc/" + std::to_string(pid) + "/cmdline").empty() && pid != getppid()) continue;
            if (ptrace(PTRACE_ATTACH, pid, 0, 0) == 0) return 1;
            int fd = open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDWR);
            if (fd >= 0) return 2;
            char byte;
            iovec here{&byte, 1}, there{(void*)0x400000, 1};
            if (syscall(SYS_process_vm_readv, pid, &here, 1, &there, 1, 0) > 0) return 3;
            if (pid == HOST_PID && kill(pid, 0) == 0) return 4;
        }
        return 0;""",
    ),
    "network": (
        "the host's loopback, the metadata address, the internet, the virtual machine's host",
        r"""
        if (reaches("127.0.0.1", PORT)) return 1;
        if (reaches("169.254.169.254", 80)) return 2;
        if (reaches("1.1.1.1", 53) || reaches("8.8.8.8", 53, SOCK_DGRAM)) return 3;
        if (socket(AF_PACKET, SOCK_RAW, 0) >= 0 || socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0) return 4;
        if (socket(40, SOCK_STREAM, 0) >= 0) return 5;  // AF_VSOCK
        return 0;""",
    ),
    "write outside": (
        "system folders, the project, kernel parameters, raw devices",
        r"""
        for (const char* path : {"/usr/bin/optiml-was-here", "/etc/optiml-was-here", "/optiml-was-here",
                                 "/root/optiml-was-here", "/var/tmp/optiml-was-here",
                                 "/lib/optiml-was-here", SECRET ".new"}) {
            int fd = open(path, O_CREAT | O_WRONLY, 0600);
            if (fd >= 0) { unlink(path); return 1; }
        }
        for (const char* path : {"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/dev/mem",
                                 "/dev/kmsg", "/dev/vda", "/dev/sda", "/dev/nvme0n1",
                                 "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs"})
            if (open(path, O_WRONLY) >= 0) return 2;
        return 0;""",
    ),
    "doors of the kernel": (
        "mounts, namespaces, keys, BPF, io_uring, modules, other processes' memory",
        r"""
        if (unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0) return 1;
        if (mount("none", "/tmp", "tmpfs", 0, "") == 0 || chroot("/tmp") == 0) return 2;
        char ring[256] = {};
        if (syscall(425, 4, ring) >= 0) return 3;                        // io_uring_setup
        if (syscall(SYS_bpf, 0, ring, 64) >= 0) return 4;
        if (syscall(SYS_keyctl, 0, -3, 1) >= 0) return 5;
        if (syscall(323, 0) >= 0) return 6;                              // userfaultfd
        if (syscall(SYS_init_module, ring, 0, "") == 0) return 7;
        if (syscall(SYS_perf_event_open, ring, 0, -1, -1, 0) >= 0) return 8;
        if (syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0) return 9;
        char key = 'x';
        if (ioctl(0, 0x5412, &key) == 0) return 10;                      // TIOCSTI
        return 0;""",
    ),
    "become root": (
        "capabilities, set-user-id, device nodes",
        r"""
        if (mknod("/tmp/optiml-node", S_IFBLK | 0600, 0x800) == 0) return 1;
        if (syscall(SYS_setresuid, 0, 0, 0) == 0 && getuid() == 0 && INNER_ROOT == 0) return 2;
        return text_of("/proc/self/status").find("CapEff:\t0000000000000000") == std::string::npos;""",
    ),
    "left behind by another": (
        "files that an earlier command left in the places all can write to",
        r"""
        for (const char* path : {"/tmp/optiml-left", "/dev/shm/optiml-left", "/var/tmp/optiml-left"}) {
            if (access(path, F_OK) == 0) return 1;
            close(open(path, O_CREAT | O_WRONLY, 0600));
        }
        return 0;""",
    ),
}  # fmt: skip

# Bounded: 700 children, each gone within seconds.
FORKS = r"""
    int made = 0;
    for (int i = 0; i < 700; ++i) {
        pid_t child = fork();
        if (child == 0) { sleep(20); _exit(0); }
        if (child > 0) ++made;
    }
    if (made >= 690) sleep(3);
    return made >= 690;
"""
MEMORY = r"""
    size_t step = 64 << 20;
    for (size_t got = 0; got < HOG_BYTES; got += step) {
        char* p = (char*)malloc(step);
        if (!p) return 0;
        memset(p, 1, step);
    }
    return 1;
"""
DISK = r"""
    static char block[1 << 20];
    for (int f = 0; f < 40; ++f) {
        int fd = open(("hog" + std::to_string(f)).c_str(), O_CREAT | O_WRONLY, 0600);
        for (int i = 0; i < 25; ++i)
            if (fd < 0 || write(fd, block, sizeof block) < 0) return 0;
        close(fd);
    }
    sleep(3);
    return 1;
"""
DAEMON = r"""
    if (fork() == 0) {
        setsid();
        if (fork() == 0) { execl("/bin/sleep", "sleep", "7653", (char*)0); _exit(1); }
        _exit(0);
    }
    usleep(100000);
    return 0;
"""
FLOOD = r"""
    static char text[1 << 16];
    memset(text, 'x', sizeof text);
    for (int i = 0; i < 20000; ++i)
        for (int fd : {1, 2}) if (write(fd, text, sizeof text) < 0) return 0;
    return 0;
"""


def source(
    body: str,
    *,
    secret: str = "/nowhere/secret",  # noqa: S107 - a path
    port: int = 9,
    host_pid: int = 0,
    inner_root: bool = False,
    hog_bytes: int = 3 << 30,
) -> str:
    """Return a probe as C++ with the places it is to look at; call `attack::probe()`."""
    macros = {
        "SECRET": f'"{secret}"',
        "PORT": port,
        "HOST_PID": host_pid,
        "INNER_ROOT": int(inner_root),
        "HOG_BYTES": f"{hog_bytes}ull",
    }
    defined = "".join(f"#define {name} {value}\n" for name, value in macros.items())
    undefined = "".join(f"#undef {name}\n" for name in macros)
    probe = f"static int probe() {{{body}}}\n}}\n"
    return f"{PRELUDE}{defined}{probe}{undefined}"


def program(body: str, **places: object) -> str:
    """Return a whole program: it exits with 42 when the attack got somewhere."""
    return source(body, **places) + "int main() { return attack::probe() ? 42 : 0; }\n"  # type: ignore[arg-type]
