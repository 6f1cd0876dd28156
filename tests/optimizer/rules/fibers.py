"""CUDA threads on the CPU as fibers of one thread of the system.

One thread of the system each would be made a million times in a run of the tests. Fibers run from
one barrier to the next, forwards and backwards by turns, so whoever needs a barrier that is not
there finds what was not written yet, or what was written too early, every time.
"""

# Behind a shim that declares `dim3`, `threadIdx`, `blockIdx`, `blockDim`, `gridDim`, `__syncthreads`
# and `launch_threads`, and defines `dim3` and whole warps of 32.
RUNTIME = r"""
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <memory>
dim3 threadIdx, blockIdx, blockDim, gridDim;
enum Waits { NOTHING, WARP, BLOCK, ENDED };
constexpr size_t STACK = 256 << 10, GUARD = 4096;
struct Fiber { ucontext_t at; void* fake; char* stack; Waits waits; };
static std::vector<Fiber> fibers;
static ucontext_t host;
static void* host_fake;
static const void* host_stack;
static size_t host_size;
static unsigned current;
static void (*body)(void*);
static void* body_of;
static void wait_as(Waits why) {
  Fiber& mine = fibers[current];
  mine.waits = why;
  __sanitizer_start_switch_fiber(why == ENDED ? nullptr : &mine.fake, host_stack, host_size);
  swapcontext(&mine.at, &host);
  __sanitizer_finish_switch_fiber(mine.fake, &host_stack, &host_size);
}
static void enter() {
  __sanitizer_finish_switch_fiber(nullptr, &host_stack, &host_size);
  body(body_of);
  wait_as(ENDED);
}
static void go_on(unsigned t) {
  Fiber& one = fibers[t];
  current = t;
  one.waits = NOTHING;
  threadIdx = dim3(t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y);
  __sanitizer_start_switch_fiber(&host_fake, one.stack, STACK);
  swapcontext(&host, &one.at);
  __sanitizer_finish_switch_fiber(host_fake, nullptr, nullptr);
}
// Whether all that have not ended wait so; then they go on.
static bool release(unsigned from, unsigned to, Waits why) {
  bool some = false;
  for (unsigned t = from; t < to; ++t) {
    if (fibers[t].waits != why && fibers[t].waits != ENDED) return false;
    some |= fibers[t].waits == why;
  }
  for (unsigned t = from; t < to; ++t) if (fibers[t].waits == why) fibers[t].waits = NOTHING;
  return some;
}
void __syncthreads() { wait_as(BLOCK); }
void wait_for_warp() { wait_as(WARP); }
static void run_block(unsigned count) {
  for (unsigned t = 0; t < count; ++t) {
    Fiber& one = fibers[t];
    getcontext(&one.at);
    one.at.uc_stack.ss_sp = one.stack;
    one.at.uc_stack.ss_size = STACK;
    makecontext(&one.at, enter, 0);
    // Else every switch would clear what is known of the stack's arrays.
    one.at.uc_stack.ss_size = 0;
    one.waits = NOTHING;
  }
  for (bool forwards = true;; forwards = !forwards) {
    for (unsigned k = 0; k < count; ++k) {
      unsigned t = forwards ? k : count - 1 - k;
      if (fibers[t].waits == NOTHING) go_on(t);
    }
    bool some = false;
    for (unsigned t = 0; t < count; t += 32) some |= release(t, min(t + 32, count), WARP);
    some |= release(0, count, BLOCK);
    if (some) continue;
    for (unsigned t = 0; t < count; ++t) if (fibers[t].waits != ENDED) {
      fprintf(stderr, "threads wait for each other\n");
      _Exit(3);
    }
    return;
  }
}
void launch_threads(dim3 grid, dim3 block, void (*f)(void*), void* of) {
  gridDim = grid; blockDim = block; body = f; body_of = of;
  unsigned count = block.x * block.y * block.z;
  while (fibers.size() < count) {
    char* stack = (char*)mmap(nullptr, GUARD + STACK, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mprotect(stack, GUARD, PROT_NONE);
    fibers.push_back({});
    fibers.back().stack = stack + GUARD;
  }
  for (unsigned b = 0; b < grid.x * grid.y * grid.z; ++b) {
    blockIdx = dim3(b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y);
    run_block(count);
  }
}
"""
