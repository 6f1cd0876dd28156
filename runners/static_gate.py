"""Layer 3 of verification: what compiled code can do that its original cannot, read from PTX.

A clock, a sleep, a printed line, a heap, a cache policy, a variable that outlives a launch: each
has honest uses, and each is how a kernel can tell a measurement from the rest of its life. So what
a candidate has of these and its original has not decides nothing. It raises the bar: such a one is
run a hundred times more at the end of everything, with pauses in between where it knows of time.
Host code that does is run with its clock moved on, too (`runners.moved_clocks`).
Only a clock in device code is refused, and what numbers launches: none needs to know the time or
how many launches went before for being fast, and what these decide shows once in any number of
runs, moved ahead (`runners.shaking`) or not. A variable that counts can be set ahead
(`runners.retained`), a register cannot; nor can variables too large to be read each time. And host
code that sets limits of the device: a share of the cache that it takes for itself is missing to all
that its caller runs from then on, which no timing of this one function shows. And host code that
puts functions of its own in the place of CUDA's or the C library's: a clock, say. And host code
that opens files, connections or processes: answers that are kept outside are nobody's to check.
And names that begin as the verifier's own do: builds with delays or marks in them have variables of
such names and do not compile beside others, and kernels of such names are not counted.

Words in source can be spelt in many ways, instructions and symbols cannot. PTX ISA 9.0: "Special
Registers", "createpolicy", "Cache Eviction Priority Hints"; CUDA C++ Programming Guide, "Formatted
Output", "Dynamic Global Memory Allocation" (both are calls of external functions in PTX).
"""

from __future__ import annotations

import re

from runners.linkage import exports, imports

CLOCK, HOST_CLOCK = "reads a clock", "host code reads a clock"
LAUNCHES = "tells launches apart"
LIMITS = "host code sets limits of the device"
REPLACES = "host code defines functions of CUDA or of the C library"
FILES = "host code opens files, connections or processes"
NAMES, HOST_NAMES = "has names of the verifier's own", "host code has names of the verifier's own"
REFUSED = frozenset({CLOCK, LAUNCHES, LIMITS, REPLACES, FILES, NAMES, HOST_NAMES})
# Of host code of a program these alone are refused: it may do all else that it likes.
REFUSED_OF_PROGRAMS = frozenset({FILES, HOST_NAMES})
OURS = "optiml_"
UNSEEN = "host code finds functions by name or number"
KEEPS = "keeps variables between launches"  # which has checks of its own
_UNCOUNTED = r"(?!\$str|__unnamed_|__PRETTY_FUNCTION__|_ZN\d*\w*(?:4cuda|3std))"
_PTX = (
    (CLOCK, r"%(?:clock|clock64|clock_hi|globaltimer(?:_lo|_hi)?)\b"),
    ("sleeps", r"^\s*(?:@!?%\w+\s+)?nanosleep\."),
    ("prints", r"^\s*\.extern\s+\.func\b.*\bvprintf\b"),
    ("asserts", r"^\s*\.extern\s+\.func\b.*\b__assertfail\b"),
    ("allocates from the device's heap", r"^\s*\.extern\s+\.func\b.*\b(?:malloc|free)\b"),
    ("launches kernels from the device", r"\bcudaLaunchDevice\w*|\bcudaGetParameterBuffer\w*"),
    (
        "steers the cache",
        r"\b(?:createpolicy|applypriority|discard)\.|\.L2::cache_hint\b|\.L[12]::evict_last\b",
    ),
    # Not texts, nor what CUDA's own headers declare.
    (
        KEEPS,
        r"^\s*(?:\.visible\s+)?\.global\s+\.align\s+\d+\s+\.\w+\s+" + _UNCOUNTED,
    ),
    ("tells multiprocessors or warps apart", r"%(?:smid|warpid|nsmid)\b"),
    (LAUNCHES, r"%(?:gridid|current_graph_exec|pm\d(?:_64)?)\b"),
    (NAMES, rf"^\s*(?:\.\w+\s+)*\.(?:entry|func|global|shared|const)\b.*{OURS}"),
    ("ends a launch early", r"^\s*(?:@!?%\w+\s+)?(?:trap|brkpt)\s*;"),
)
# What tells the time, sleeps, or waits until a time.
_CLOCKS = re.compile(
    r"(?:clock_get|f)?time|gettimeofday|timespec_get|clock|times|getrusage"
    r"|(?:(?:clock_)?nano|u|thrd_)?sleep|(?:timer|timerfd)_(?:create|settime)|u?alarm|setitimer"
    r"|pthread_(?:cond|mutex|rwlock)_(?:timed|clock)\w+|sem_(?:timed|clock)wait"
    r"|cnd_timedwait|mtx_timedlock|_ZNSt28__atomic_futex_unsigned_base\w*_wait_until\w*"
    r"|_ZNSt6chrono\w*clock3now\w*|_ZNSt11this_thread11__sleep_for\w*"
)
# What may be any of these, by its name or its number.
_FINDERS = re.compile(r"dlv?sym|syscall")
_HOST = (
    (HOST_CLOCK, _CLOCKS.pattern),
    (UNSEEN, _FINDERS.pattern),
    ("host code steers the cache", r"cudaStreamSetAttribute|cudaCtxResetPersistingL2Cache"),
    (
        LIMITS,
        (
            r"(?:cuda(?:Device|Thread)|cuCtx)Set(?:Limit|CacheConfig|SharedMemConfig|Flags)"
            r"|cudaSetDeviceFlags|cudaDeviceReset|cudaThreadExit"
            r"|cuDevicePrimaryCtx(?:Reset|SetFlags)\w*"
        ),
    ),
    (
        FILES,
        (
            r"(?:f|fre|fd|p|shm_)?open(?:at|at2)?(?:64)?|creat(?:64)?|tmpfile(?:64)?|mk(?:o?stemp|fifo|nod)\w*"
            r"|rename(?:at2?)?|remove|unlink(?:at)?|(?:sym)?link(?:at)?|system|v?fork|exec[lv]p?e?|execveat"
            r"|posix_spawnp?|socket(?:pair)?|connect|bind|accept4?|_ZNSt13basic_filebuf\w*"
            r"|_ZNSt1[34]basic_[io]?fstream\w*|_ZNSt10filesystem\w*"
        ),
    ),
    ("host code replays graphs", r"cudaGraphLaunch|cudaStreamBeginCapture"),
    ("host code starts threads", r"pthread_create|_ZNSt6thread\w*"),
)
# What measures, allocates or launches, and what a process is observed through.
_LIBRARIES = re.compile(
    r"cu(?:da)?[A-Z]\w*|__cuda\w*|nv(?:ml|rtc|tx|JitLink)\w*|clock\w*|time|times|gettimeofday|getrusage"
    r"|(?:nano|u)?sleep|malloc|calloc|realloc|free|aligned_alloc|posix_memalign|mem(?:cpy|set|move|cmp)"
    r"|mmap|munmap|mprotect|dlopen|dlsym|dlclose|pthread_\w+|open(?:at)?(?:64)?|close|read|write|ioctl"
    r"|syscall|signal|sigaction|fork|vfork|execv\w*|exit|_exit|abort|atexit|getenv|printf|fopen|fclose"
)
_DEVICE = tuple((word, re.compile(pattern, re.MULTILINE)) for word, pattern in _PTX)
_IMPORTED = tuple((word, re.compile(pattern)) for word, pattern in _HOST)


def device(ptx: str) -> frozenset[str]:
    r"""Return what device code can do, by its PTX.

    >>> sorted(device("mov.u64 %rd2, %clock64;\n\tnanosleep.u32 %r3;\n"))
    ['reads a clock', 'sleeps']
    >>> sorted(device(".visible .entry _Z9optiml_goPi(\n"))
    ["has names of the verifier's own"]
    """
    return frozenset(word for word, pattern in _DEVICE if pattern.search(ptx))


def host(data: bytes) -> frozenset[str]:
    """Return what host code can do, by what a shared object asks of others and has for them."""
    names = imports(data)
    found = {word for word, pattern in _IMPORTED if any(pattern.fullmatch(name) for name in names)}
    defined = exports(data)
    if any(_LIBRARIES.fullmatch(name) for name in defined):
        found.add(REPLACES)
    if any(OURS in name for name in defined):
        found.add(HOST_NAMES)
    return frozenset(found)


def clocks(data: bytes) -> frozenset[str]:
    """Return the functions by which host code may know the time, as a shared object asks for them.

    Those that find others by a name or a number are among them.
    """
    named = (one for one in imports(data) if _CLOCKS.fullmatch(one) or _FINDERS.fullmatch(one))
    return frozenset(named)


def knows_time(raised: frozenset[str]) -> bool:
    """Tell whether pauses could make a difference to what can do all this."""
    return bool(raised & {CLOCK, HOST_CLOCK, UNSEEN, "sleeps"})
