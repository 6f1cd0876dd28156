// Runs the blocks of a kernel on one core of the host. Every CUDA thread that has to wait is a fibre
// with a stack of its own; one that never waits is an ordinary call. Kernels are compiled against
// `device.h` and know of this library by the functions declared there alone, so that no compiler can
// see through a barrier.
#include "runtime.h"

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

namespace {

typedef unsigned u32;
typedef unsigned long long u64;

constexpr size_t STACK = 640 << 10, PAGE = 4096;
constexpr size_t DYNAMIC = 256 << 10;
// Blocks that may wait for others at a time, and what is waited before a thread is thought to spin.
constexpr u32 MOST_RESIDENT = 320;
constexpr long TICK_NS = 1000000, HURRIED_NS = 100000;

enum Waits { RUNS, AT_WARP, AT_CONVERGENCE, AT_BLOCK, AT_GRID };

struct Fiber {
    void* sp = nullptr;
    char* stack = nullptr;
    ucontext_t context;
};

struct Lane {
    Fiber* fiber;
    u32 kind, mask, parameter, width;
    u64 value, result;
    const void* site;
    unsigned char waits;
};

struct Warp {
    u32 ready, started, done, exists;
};

struct Block {
    Warp warps[32];
    Lane lanes[1024];
    u32 alive, waiting, sum, all, any, warp_count, thread_count, at_grid;
    u32 current;    // the thread that runs
    u32 turns;      // yields since anything but yields happened
    u32 x, y, z;
    bool live;
    char* kept;     // its shared memory while another block runs
};

struct Launch {
    void (*body)(void*);
    void* values;
    u32 grid[3], block[3];
    u64 blocks, begun, ended;
    size_t shared;
    char* fixed;    // the shared variables of the module
    size_t fixed_bytes;
    u32 seed, poison;
    double limit;
};

thread_local volatile int active;
Launch job;
Block* now;
std::vector<Block*> residents, spare;
std::vector<Fiber*> fibers, unused;
Fiber* here;
Fiber main_fiber;
int outcome;
char words[256];
u64 noise;
char* dynamic_end;
bool stale;
timespec began;
timer_t timer;
bool hurried;

u64 random_bits() {
    noise ^= noise << 13;
    noise ^= noise >> 7;
    noise ^= noise << 17;
    return noise;
}

#if defined(__x86_64__)
extern "C" void emu_switch(void** save, void* load);
asm(R"(
.text
.type emu_switch, @function
emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emu_switch, .-emu_switch
)");
void change(Fiber* to) {
    Fiber* from = here;
    here = to;
    emu_switch(&from->sp, to->sp);
}
#else
void change(Fiber* to) {
    Fiber* from = here;
    here = to;
    swapcontext(&from->context, &to->context);
}
#endif

void work();

void fresh(Fiber* one) {
    size_t number = reinterpret_cast<size_t>(one->stack) / STACK;
    // Tops of stacks lie apart in the cache, too.
    char* top = one->stack + STACK - 64 - (number * 7 % 61) * 64;
#if defined(__x86_64__)
    void** at = reinterpret_cast<void**>(reinterpret_cast<size_t>(top) & ~size_t(15));
    *--at = nullptr;
    *--at = reinterpret_cast<void*>(&work);
    for (int i = 0; i < 6; ++i) *--at = nullptr;
    one->sp = at;
#else
    getcontext(&one->context);
    one->context.uc_stack.ss_sp = one->stack + PAGE;
    one->context.uc_stack.ss_size = top - one->stack - PAGE;
    one->context.uc_link = nullptr;
    makecontext(&one->context, work, 0);
#endif
}

Fiber* take() {
    if (!unused.empty()) {
        Fiber* one = unused.back();
        unused.pop_back();
        return one;
    }
    Fiber* one = new Fiber;
    one->stack = static_cast<char*>(mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (one->stack == MAP_FAILED) abort();
    mprotect(one->stack, PAGE, PROT_NONE);
    fresh(one);
    fibers.push_back(one);
    return one;
}

[[noreturn]] void leave(int how, const char* why) {
    outcome = how;
    strncpy(words, why, sizeof words - 1);
    stale = true;
    change(&main_fiber);
    abort();
}

void show(Block* b) {
    u32 t = b->current;
    threadIdx.x = t % job.block[0];
    threadIdx.y = t / job.block[0] % job.block[1];
    threadIdx.z = t / job.block[0] / job.block[1];
}

void poison(char* at, size_t size) {
    if (job.poison == 0) {
        memset(at, 0xFF, size);
        return;
    }
    u32 word = job.poison;
    size_t i = 0;
    for (; i + 4 <= size; i += 4) memcpy(at + i, &word, 4);
    memset(at + i, 0xA5, size - i);
}

void keep(Block* b) {
    if (!b->kept) b->kept = static_cast<char*>(malloc(job.fixed_bytes + job.shared + 1));
    memcpy(b->kept, job.fixed, job.fixed_bytes);
    memcpy(b->kept + job.fixed_bytes, emu_dynamic, job.shared);
}

void enter(Block* b) {
    if (now != b) {
        if (now && now->live) keep(now);
        if (b->kept) {
            memcpy(job.fixed, b->kept, job.fixed_bytes);
            memcpy(emu_dynamic, b->kept + job.fixed_bytes, job.shared);
        }
        now = b;
    }
    blockIdx.x = b->x;
    blockIdx.y = b->y;
    blockIdx.z = b->z;
}

void begin_block(Block* b) {
    if (now && now->live && now != b) keep(now);
    u64 number = job.begun++;
    b->x = number % job.grid[0];
    b->y = number / job.grid[0] % job.grid[1];
    b->z = number / job.grid[0] / job.grid[1];
    b->thread_count = b->alive = job.block[0] * job.block[1] * job.block[2];
    b->warp_count = (b->thread_count + 31) / 32;
    b->waiting = b->sum = b->any = b->at_grid = b->turns = 0;
    b->all = 1;
    for (u32 w = 0; w < b->warp_count; ++w) {
        u32 rest = b->thread_count - 32 * w;
        u32 exists = rest >= 32 ? ~0u : (1u << rest) - 1;
        b->warps[w] = {exists, 0, 0, exists};
    }
    // Where threads begin decides who is seen to be late.
    b->current = (job.seed ? random_bits() : number + job.poison) % b->warp_count * 32;
    b->live = true;
    poison(job.fixed, job.fixed_bytes);
    poison(emu_dynamic, job.shared);
    now = nullptr;
    enter(b);
}

// The next lane of a set behind another one, in either direction or any.
u32 pick(u32 ready, u32 lane) {
    if (job.seed) lane = random_bits() & 31;
    if (job.poison & 1) {
        u32 below = lane ? ready & ((1u << lane) - 1) : 0;
        return 31 - __builtin_clz(below ? below : ready);
    }
    u32 above = lane == 31 ? 0 : ready & (~0u << (lane + 1));
    return __builtin_ctz(above ? above : ready);
}

// Lanes of a warp that wait for whoever comes along, where nobody else can come.
bool converge(Block* b, u32 w) {
    Warp& warp = b->warps[w];
    if (warp.ready) return false;
    Lane* lanes = b->lanes + 32 * w;
    u32 left = 0;
    const void* site = nullptr;
    for (u32 l = 0; l < 32; ++l)
        if ((warp.exists & ~warp.done) >> l & 1 && lanes[l].waits == AT_CONVERGENCE
            && (!site || lanes[l].site == site)) {
            site = lanes[l].site;
            left |= 1u << l;
        }
    for (u32 l = 0; l < 32; ++l)
        if (left >> l & 1) {
            lanes[l].result = left;
            lanes[l].waits = RUNS;
        }
    warp.ready |= left;
    return left != 0;
}

bool choose_in(Block* b) {
    u32 w = b->current >> 5;
    if (job.seed) w = random_bits() % b->warp_count;
    for (u32 turn = 0; turn < b->warp_count; ++turn) {
        if (b->warps[w].ready || converge(b, w)) {
            u32 lane = w == b->current >> 5 ? b->current & 31 : job.poison & 1 ? 0 : 31;
            b->current = 32 * w + pick(b->warps[w].ready, lane);
            return true;
        }
        w = w + 1 == b->warp_count ? 0 : w + 1;
    }
    return false;
}

Block* room() {
    Block* b;
    if (spare.empty()) {
        b = new Block;
        b->kept = nullptr;
    } else {
        b = spare.back();
        spare.pop_back();
    }
    residents.push_back(b);
    return b;
}

void drop(Block* b) {
    b->live = false;
    free(b->kept);
    b->kept = nullptr;
    for (size_t i = 0; i < residents.size(); ++i)
        if (residents[i] == b) {
            residents.erase(residents.begin() + i);
            break;
        }
    spare.push_back(b);
}

// Chooses what runs next; false when the grid is done. `away` prefers another block.
bool choose(bool away) {
    if (!away && now && now->live && choose_in(now)) return true;
    if (now && now->live && now->alive == 0) {
        ++job.ended;
        Block* over = now;
        now = nullptr;
        drop(over);
    }
    if (job.ended == job.blocks) return false;
    if (away && job.begun < job.blocks && residents.size() < MOST_RESIDENT) {
        begin_block(room());
        return choose_in(now);
    }
    size_t at = 0;
    while (at < residents.size() && residents[at] != now) ++at;
    for (size_t turn = 1; turn <= residents.size(); ++turn) {
        Block* b = residents[(at + turn) % residents.size()];
        bool any = false;
        for (u32 w = 0; w < b->warp_count && !any; ++w)
            any = b->warps[w].ready || converge(b, w);
        if (any) {
            enter(b);
            return choose_in(b);
        }
    }
    if (job.begun < job.blocks) {
        if (residents.size() >= MOST_RESIDENT)
            leave(EMU_HUNG, "more blocks wait for each other than can be held");
        begin_block(room());
        return choose_in(now);
    }
    leave(EMU_HUNG, "all threads wait, and nobody can come");
}

// Runs what `choose` chose, and comes back when this fibre's thread runs again.
void go() {
    Lane& lane = now->lanes[now->current];
    Warp& warp = now->warps[now->current >> 5];
    u32 bit = 1u << (now->current & 31);
    show(now);
    if (warp.started & bit) {
        if (lane.fiber != here) change(lane.fiber);
        return;
    }
    change(take());
}

// Lets others run until this thread is ready again.
void wait(bool away = false) {
    Block* mine = now;
    u32 number = now->current;
    now->lanes[number].fiber = here;
    choose(away);
    if (now == mine && now->current == number) {
        show(now);
        return;
    }
    go();
}

void free_block_barrier(Block* b) {
    for (u32 t = 0; t < b->thread_count; ++t)
        if (b->lanes[t].waits == AT_BLOCK && b->warps[t >> 5].started >> (t & 31) & 1
            && !(b->warps[t >> 5].done >> (t & 31) & 1)) {
            b->lanes[t].waits = RUNS;
            Lane& lane = b->lanes[t];
            lane.result = lane.kind == 0 ? b->sum : lane.kind == 1 ? b->all : b->any;
            b->warps[t >> 5].ready |= 1u << (t & 31);
        }
    b->waiting = b->sum = b->any = 0;
    b->all = 1;
}

void free_grid_barrier() {
    for (Block* b : residents) {
        for (u32 t = 0; t < b->thread_count; ++t)
            if (b->lanes[t].waits == AT_GRID && !(b->warps[t >> 5].done >> (t & 31) & 1)) {
                b->lanes[t].waits = RUNS;
                b->warps[t >> 5].ready |= 1u << (t & 31);
            }
        b->at_grid = 0;
    }
}

u32 source(u32 kind, u32 lane, u32 parameter, u32 width) {
    u32 base = lane & ~(width - 1), in = lane & (width - 1);
    switch (kind) {
        case EMU_SHFL: return base | (parameter & (width - 1));
        case EMU_UP: return in < parameter ? lane : lane - parameter;
        case EMU_DOWN: return in + parameter >= width ? lane : lane + parameter;
        default: {
            u32 other = lane ^ parameter;
            return (other & ~(width - 1)) > base ? lane : other;
        }
    }
}

// All lanes of a mask that live have come: work out what each is given.
void exchange(Warp& warp, Lane* lanes, u32 group) {
    u32 first = __builtin_ctz(group);
    u32 kind = lanes[first].kind;
    u64 all = 0;
    if (kind == EMU_BALLOT || kind == EMU_ACTIVE) {
        for (u32 l = 0; l < 32; ++l)
            if (group >> l & 1 && lanes[l].value) all |= 1ull << l;
    } else if (kind >= EMU_ADD && kind <= EMU_XOR) {
        all = lanes[first].value;
        for (u32 l = first + 1; l < 32; ++l) {
            if (!(group >> l & 1)) continue;
            u32 a = all, b = lanes[l].value;
            switch (kind) {
                case EMU_ADD: all = a + b; break;
                case EMU_MIN_U: all = a < b ? a : b; break;
                case EMU_MAX_U: all = a > b ? a : b; break;
                case EMU_MIN_S: all = u32(int(a) < int(b) ? a : b); break;
                case EMU_MAX_S: all = u32(int(a) > int(b) ? a : b); break;
                case EMU_AND: all = a & b; break;
                case EMU_OR: all = a | b; break;
                default: all = a ^ b;
            }
        }
    } else if (kind == EMU_MATCH_ALL) {
        all = group;
        for (u32 l = 0; l < 32; ++l)
            if (group >> l & 1 && lanes[l].value != lanes[first].value) all = 0;
    }
    for (u32 l = 0; l < 32; ++l) {
        if (!(group >> l & 1)) continue;
        Lane& lane = lanes[l];
        if (kind <= EMU_XOR_LANE) {
            u32 from = source(lane.kind, l, lane.parameter, lane.width);
            // What a lane gives that does not take part is not defined: nothing useful.
            lane.result = group >> from & 1 ? lanes[from].value : 0;
        } else if (kind == EMU_MATCH_ANY) {
            u32 same = 0;
            for (u32 k = 0; k < 32; ++k)
                if (group >> k & 1 && lanes[k].value == lane.value) same |= 1u << k;
            lane.result = same;
        } else {
            lane.result = all;
        }
    }
    for (u32 l = 0; l < 32; ++l)
        if (group >> l & 1) lanes[l].waits = RUNS;
    warp.ready |= group;
}

bool met(Block* b, u32 w, u32 mask) {
    Warp& warp = b->warps[w];
    u32 group = mask & warp.exists & ~warp.done;
    if (!group || (group & warp.ready) || (group & ~warp.started)) return false;
    Lane* lanes = b->lanes + 32 * w;
    for (u32 rest = group; rest; rest &= rest - 1) {
        Lane& lane = lanes[__builtin_ctz(rest)];
        if (lane.waits != AT_WARP || lane.mask != mask) return false;
    }
    exchange(warp, lanes, group);
    return true;
}

// A thread is over: those that waited for it alone go on.
void finished() {
    Block* b = now;
    u32 t = b->current, w = t >> 5;
    Warp& warp = b->warps[w];
    warp.done |= 1u << (t & 31);
    warp.ready &= ~warp.done;
    --b->alive;
    b->turns = 0;
    if (b->waiting && b->waiting == b->alive) free_block_barrier(b);
    u32 rest = warp.exists & ~warp.done & ~warp.ready;
    for (; rest; rest &= rest - 1) {
        u32 l = __builtin_ctz(rest);
        if (warp.ready >> l & 1) continue;
        Lane& lane = b->lanes[32 * w + l];
        if (lane.waits == AT_WARP) met(b, w, lane.mask);
    }
}

// A fibre: runs threads that have not begun, as long as one is next.
void work() {
    for (;;) {
        Warp& warp = now->warps[now->current >> 5];
        u32 bit = 1u << (now->current & 31);
        warp.started |= bit;
        Lane& lane = now->lanes[now->current];
        lane.fiber = here;
        lane.waits = RUNS;
        emu_inside = 0;
        job.body(job.values);
        emu_inside = 1;
        finished();
        if (!choose(false)) {
            unused.push_back(here);
            change(&main_fiber);
            continue;
        }
        show(now);
        Warp& next = now->warps[now->current >> 5];
        if (next.started >> (now->current & 31) & 1) {
            unused.push_back(here);
            change(now->lanes[now->current].fiber);
        }
    }
}

double seconds() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec - began.tv_sec) + 1e-9 * double(t.tv_nsec - began.tv_nsec);
}

void pace(long ns) {
    itimerspec each{};
    each.it_interval.tv_nsec = each.it_value.tv_nsec = ns;
    timer_settime(timer, 0, &each, nullptr);
}

// Spinning threads are what only a clock sees.
void tick(int) {
    if (!active || emu_inside || here == &main_fiber) return;
    emu_inside = 1;
    if (seconds() > job.limit) leave(EMU_HUNG, "the launch took too long");
    Block* b = now;
    u32 ready = 0;
    for (u32 w = 0; w < b->warp_count; ++w) ready += __builtin_popcount(b->warps[w].ready);
    bool away = ++b->turns > ready;
    // A block that only waits is left at the next tick, and ticks come sooner.
    if (away) {
        b->turns = ready;
        if (!hurried) pace(HURRIED_NS);
        hurried = true;
    }
    wait(away);
    emu_inside = 0;
}

// What a division by zero gives on a device, and how long the instruction is that fails.
bool divided(ucontext_t* context) {
#if defined(__x86_64__)
    greg_t* r = context->uc_mcontext.gregs;
    const unsigned char* at = reinterpret_cast<const unsigned char*>(r[REG_RIP]);
    const unsigned char* p = at;
    bool wide = false;
    if (*p == 0x66) ++p;
    if ((*p & 0xF0) == 0x40) wide = *p++ & 8;
    if (*p != 0xF7) return false;
    unsigned char m = p[1];
    unsigned op = m >> 3 & 7, mod = m >> 6, rm = m & 7;
    if (op != 6 && op != 7) return false;
    p += 2;
    if (mod != 3) {
        if (rm == 4) {
            if (mod == 0 && (*p & 7) == 5) p += 4;
            ++p;
        } else if (mod == 0 && rm == 5) {
            p += 4;
        }
        p += mod == 1 ? 1 : mod == 2 ? 4 : 0;
    }
    greg_t dividend = r[REG_RAX];
    r[REG_RAX] = wide ? -1 : greg_t(0xFFFFFFFFu);
    // The smallest number divided by -1 stays what it is; a sign says which of both it was.
    bool lowest = op == 7 && (wide ? dividend == greg_t(1ull << 63) : u32(dividend) == 1u << 31);
    if (lowest) r[REG_RAX] = dividend;
    r[REG_RDX] = lowest ? 0 : dividend;
    r[REG_RIP] = reinterpret_cast<greg_t>(p);
    return true;
#else
    return false;
#endif
}

struct sigaction before[32];

void trap(int number, siginfo_t*, void* context) {
    if (!active || here == &main_fiber) {
        sigaction(number, &before[number], nullptr);
        return;
    }
    if (number == SIGFPE && divided(static_cast<ucontext_t*>(context))) return;
    emu_inside = 1;
    leave(EMU_FAULT, number == SIGILL ? "misaligned address" : "an illegal memory access");
}

struct Found {
    const void* inside_of;
    size_t size;
};

int look(dl_phdr_info* info, size_t, void* data) {
    Found* found = static_cast<Found*>(data);
    bool here_ = false;
    const ElfW(Phdr)* tls = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& one = info->dlpi_phdr[i];
        size_t from = info->dlpi_addr + one.p_vaddr, to = from + one.p_memsz;
        size_t wanted = reinterpret_cast<size_t>(found->inside_of);
        if (one.p_type == PT_LOAD && wanted >= from && wanted < to) here_ = true;
        if (one.p_type == PT_TLS) tls = &one;
    }
    if (!here_) return 0;
    if (tls) found->size = tls->p_memsz;
    return 1;
}

void* alternate() {
    static thread_local void* memory = nullptr;
    if (!memory) memory = malloc(64 << 10);
    return memory;
}

}  // namespace

uint3 threadIdx, blockIdx;
volatile int emu_inside;
dim3 blockDim, gridDim;
char* emu_dynamic;

extern "C" {

int emu_run(void (*body)(void*), void* values, const u32* grid, const u32* block, size_t shared,
            u32 seed, u32 poison_word, double limit, const void* code, char* fixed) {
    if (!dynamic_end) {
        char* all = static_cast<char*>(mmap(nullptr, DYNAMIC + (1 << 20), PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        dynamic_end = all + DYNAMIC;
        mprotect(dynamic_end, 1 << 20, PROT_NONE);
    }
    Found found{code, 0};
    dl_iterate_phdr(look, &found);
    job = Launch{body, values, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]},
                 u64(grid[0]) * grid[1] * grid[2], 0, 0, shared, fixed, found.size, seed,
                 poison_word, limit};
    emu_dynamic = dynamic_end - (shared + 127) / 128 * 128;
    gridDim = dim3(grid[0], grid[1], grid[2]);
    blockDim = dim3(block[0], block[1], block[2]);
    noise = 0x9E3779B97F4A7C15ull ^ (u64(seed) * 0xBF58476D1CE4E5B9ull);
    outcome = EMU_FINE;
    words[0] = 0;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    if (stale) {
        unused.clear();
        for (Fiber* one : fibers) {
            fresh(one);
            unused.push_back(one);
        }
        for (Block* b : residents) {
            free(b->kept);
            b->kept = nullptr;
            spare.push_back(b);
        }
        residents.clear();
        stale = false;
    }
    stack_t stack{}, old{};
    stack.ss_sp = alternate();
    stack.ss_size = 64 << 10;
    sigaltstack(&stack, &old);
    struct sigaction action {};
    action.sa_sigaction = trap;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (int one : caught) sigaction(one, &action, &before[one]);
    struct sigaction ticks {};
    ticks.sa_handler = tick;
    ticks.sa_flags = SA_NODEFER | SA_RESTART;
    sigaction(SIGVTALRM, &ticks, &before[SIGVTALRM]);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGVTALRM;
    event._sigev_un._tid = static_cast<int>(syscall(SYS_gettid));
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    hurried = false;
    pace(TICK_NS);
    emu_inside = 1;
    active = 1;
    now = nullptr;
    here = &main_fiber;
    begin_block(room());
    choose_in(now);
    show(now);
    change(take());
    now = nullptr;
    active = 0;
    emu_inside = 0;
    here = &main_fiber;
    timer_delete(timer);
    for (int one : caught) sigaction(one, &before[one], nullptr);
    sigaltstack(&old, nullptr);
    return outcome;
}

const char* emu_words() { return words; }

u32 emu_barrier(u32 kind, u32 predicate) {
    emu_inside = 1;
    Block* b = now;
    Lane& lane = b->lanes[b->current];
    b->sum += predicate != 0;
    b->all &= predicate != 0;
    b->any |= predicate != 0;
    lane.kind = kind;
    lane.waits = AT_BLOCK;
    b->warps[b->current >> 5].ready &= ~(1u << (b->current & 31));
    b->turns = 0;
    if (++b->waiting == b->alive) free_block_barrier(b);
    wait();
    emu_inside = 0;
    return lane.result;
}

u64 emu_warp(u32 kind, u32 mask, u64 value, u32 parameter, u32 width) {
    emu_inside = 1;
    Block* b = now;
    u32 w = b->current >> 5, bit = 1u << (b->current & 31);
    Lane& lane = b->lanes[b->current];
    lane.kind = kind;
    lane.mask = mask | bit;
    lane.value = value;
    lane.parameter = parameter;
    lane.width = width;
    lane.waits = AT_WARP;
    b->turns = 0;
    b->warps[w].ready &= ~bit;
    if (met(b, w, lane.mask)) {
        // The last to come goes on at once, unless a schedule is asked for.
        if (!job.seed) {
            emu_inside = 0;
            return lane.result;
        }
    }
    wait();
    emu_inside = 0;
    return lane.result;
}

u32 emu_converged(const void* site) {
    emu_inside = 1;
    Block* b = now;
    Lane& lane = b->lanes[b->current];
    lane.waits = AT_CONVERGENCE;
    lane.site = site;
    b->warps[b->current >> 5].ready &= ~(1u << (b->current & 31));
    wait();
    emu_inside = 0;
    return lane.result;
}

void emu_grid_barrier() {
    emu_inside = 1;
    Block* b = now;
    b->lanes[b->current].waits = AT_GRID;
    b->warps[b->current >> 5].ready &= ~(1u << (b->current & 31));
    ++b->at_grid;
    if (job.begun == job.blocks) {
        bool all = true;
        for (Block* one : residents) all = all && one->at_grid == one->alive;
        if (all && residents.size() + job.ended == job.blocks) free_grid_barrier();
    }
    wait();
    emu_inside = 0;
}

void emu_yield() {
    emu_inside = 1;
    Block* b = now;
    u32 ready = 0;
    for (u32 w = 0; w < b->warp_count; ++w) ready += __builtin_popcount(b->warps[w].ready);
    bool away = ++b->turns > ready;
    if (away) b->turns = ready;
    wait(away);
    emu_inside = 0;
}

void emu_trap(const char* why) {
    emu_inside = 1;
    leave(EMU_FAULT, why);
}
}
