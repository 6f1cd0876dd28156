// The program's beginning and end, and the clocks and entropy that it could take a seed from.
#include <csignal>
#include <cstdlib>
#include <link.h>
#include <pthread.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <new>
#include <thread>

#include "state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr unsigned kReportSeconds = 10;
constexpr int kForkTurns = 200;
pid_t owner = 0;
uintptr_t imageBegin = 0, imageEnd = 0;
int (*programMain)(int, char **, char **) = nullptr;

void end(const char *how) {
  if (getpid() == owner) finish(how);
}

int runMain(int argc, char **argv, char **environment) {
  const int status = programMain(argc, argv, environment);
  end("return");
  return status;
}

void onSignal(int number) {
  State &s = state();
  if (s.active && !s.done && getpid() == owner) {
    s.done = true;
    s.broken = true;
    alarm(kReportSeconds);  // it may have crashed in the allocator, which is needed for this
    writeReport(number == SIGABRT ? "abort" : "signal");
  }
  signal(number, SIG_DFL);
  raise(number);
}

int image(struct dl_phdr_info *info, size_t, void *) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (imageBegin == 0 || at < imageBegin) imageBegin = at;
    if (at + info->dlpi_phdr[i].p_memsz > imageEnd) imageEnd = at + info->dlpi_phdr[i].p_memsz;
  }
  return 1;  // the first entry is the program itself
}

// Only the program's own readings are moved: the driver waits by the real clock.
bool fromProgram(const void *caller) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(caller);
  const State &s = state();
  return s.active && s.config.fixClock && at >= imageBegin && at < imageEnd;
}

struct timespec moved(struct timespec now) {
  static const struct timespec first = now;
  long nanoseconds = now.tv_nsec - first.tv_nsec;
  time_t seconds = now.tv_sec - first.tv_sec;
  if (nanoseconds < 0) {
    nanoseconds += 1000000000;
    --seconds;
  }
  return {static_cast<time_t>(state().config.wall) + seconds, nanoseconds};
}

struct timespec realNow() {
  static const auto real =
      reinterpret_cast<int (*)(clockid_t, struct timespec *)>(next("clock_gettime"));
  struct timespec now {};
  real(CLOCK_REALTIME, &now);
  return now;
}

// A child is not watched. It inherits the mutex, which nobody may be about to change what is under.
bool forking = false;

void beforeFork() {
  for (int turn = 0; turn < kForkTurns; ++turn) {  // not for ever: who holds it may wait for us
    if ((forking = state().mutex.try_lock())) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void behindFork() {
  if (forking) state().mutex.unlock();
}

void inChild() {
  // Its owner was a thread of the parent by number: it is made anew rather than let go.
  new (&state().mutex) std::recursive_mutex;
  state().active = false;
}

__attribute__((constructor)) void begin() {
  owner = getpid();
  dl_iterate_phdr(image, nullptr);
  configure();
  if (!state().active) return;
  pthread_atfork(beforeFork, behindFork, inChild);
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGTERM})
    signal(number, onSignal);
}

}  // namespace

EXPORT int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
                             void (*init)(), void (*fini)(), void (*last)(), void *stack) {
  static const auto real = reinterpret_cast<int (*)(int (*)(int, char **, char **), int, char **,
                                                    void (*)(), void (*)(), void (*)(), void *)>(
      next("__libc_start_main"));
  programMain = main;
  return real(runMain, argc, argv, init, fini, last, stack);
}

#define LEAVE(name)                                                          \
  EXPORT __attribute__((noreturn)) void name(int status) noexcept {          \
    static const auto real = reinterpret_cast<void (*)(int)>(next(#name));   \
    end("exit");                                                             \
    real(status);                                                            \
    __builtin_unreachable();                                                 \
  }
LEAVE(exit)
LEAVE(_exit)
LEAVE(_Exit)
LEAVE(quick_exit)
#undef LEAVE

EXPORT time_t time(time_t *to) noexcept {
  struct timespec now = realNow();
  if (fromProgram(__builtin_return_address(0))) now = moved(now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

EXPORT int gettimeofday(struct timeval *to, void *zone) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(struct timeval *, void *)>(next("gettimeofday"));
  if (!fromProgram(__builtin_return_address(0))) return real(to, zone);
  const struct timespec now = moved(realNow());
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

EXPORT clock_t clock() noexcept {
  static const auto real = reinterpret_cast<clock_t (*)()>(next("clock"));
  const clock_t now = real();
  if (!fromProgram(__builtin_return_address(0))) return now;
  static const clock_t first = now;
  return CLOCKS_PER_SEC / 10 + now - first;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *to) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(clockid_t, struct timespec *)>(next("clock_gettime"));
  const int status = real(clock, to);
  if (status == 0 && clock == CLOCK_REALTIME && fromProgram(__builtin_return_address(0)))
    *to = moved(*to);
  return status;
}

// std::chrono::system_clock::now(), which is high_resolution_clock::now() too.
EXPORT int64_t systemClockNow() noexcept __asm__("_ZNSt6chrono3_V212system_clock3nowEv");
int64_t systemClockNow() noexcept {
  struct timespec now = realNow();
  if (fromProgram(__builtin_return_address(0))) now = moved(now);
  return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// std::random_device::operator()
EXPORT unsigned randomDevice(void *device) __asm__("_ZNSt13random_device9_M_getvalEv");
unsigned randomDevice(void *device) {
  static const auto real =
      reinterpret_cast<unsigned (*)(void *)>(next("_ZNSt13random_device9_M_getvalEv"));
  if (!fromProgram(__builtin_return_address(0))) return real ? real(device) : 0;
  static uint32_t word = 0x2545F491;
  word ^= word << 13;
  word ^= word >> 17;
  word ^= word << 5;
  return word;
}
