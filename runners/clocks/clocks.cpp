// Clocks that can be moved on for one shared object alone.
//
// An object that was loaded calls others through addresses which the dynamic linker wrote into its
// tables. Those of functions that tell the time, sleep, or wait until a time are replaced by
// functions of ours, which ask the real one and add what the clock was moved by. Nobody else in the
// process notices: no other object's table is touched, and what we call ourselves is the real one.
// System V ABI, chapter 5 ("Relocation"); ELF for the Arm 64-bit Architecture.
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>

namespace {

constexpr int64_t kSecond = 1'000'000'000;
// A sleep up to so long is slept as it is; a longer one looks so often if the clock was moved.
constexpr int64_t kNap = kSecond / 4, kLook = kSecond / 50;

std::atomic<int64_t> moved{0};  // by so many nanoseconds

int64_t nanoseconds(const timespec &at) { return at.tv_sec * kSecond + at.tv_nsec; }

timespec as_timespec(int64_t at) {
  if (at < 0) at = 0;
  return {static_cast<time_t>(at / kSecond), static_cast<long>(at % kSecond)};
}

void move_on(timespec *at) {
  if (at != nullptr) *at = as_timespec(nanoseconds(*at) + moved);
}

void move_on(timeval *at) {
  if (at == nullptr) return;
  const int64_t now = at->tv_sec * kSecond + at->tv_usec * 1000 + moved;
  *at = {static_cast<time_t>(now / kSecond), static_cast<suseconds_t>(now % kSecond / 1000)};
}

// When a time by the moved clock is by the real one: who waits until then would wait for days.
struct Real {
  timespec at{};
  const timespec *pointer;
  explicit Real(const timespec *until) : pointer(until) {
    if (until == nullptr || moved == 0) return;
    at = as_timespec(nanoseconds(*until) - moved);
    pointer = &at;
  }
};

// What a C library that is older does not have is looked up, and then nobody calls it.
template <typename Function>
Function real(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// ---- what tells the time ----

int clock_gettime_(clockid_t clock, timespec *at) {
  const int code = clock_gettime(clock, at);
  if (code == 0) move_on(at);
  return code;
}

int gettimeofday_(timeval *at, void *zone) {
  const int code = gettimeofday(at, static_cast<struct timezone *>(zone));
  if (code == 0) move_on(at);
  return code;
}

time_t time_(time_t *out) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  move_on(&now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

clock_t clock_() {
  const clock_t now = clock();
  return now == -1 ? now : now + moved / (kSecond / CLOCKS_PER_SEC);
}

clock_t times_(tms *out) {
  const clock_t now = times(out), more = moved / (kSecond / sysconf(_SC_CLK_TCK));
  if (out != nullptr) out->tms_utime += more;
  return now == -1 ? now : now + more;
}

int getrusage_(int who, rusage *out) {
  const int code = getrusage(static_cast<__rusage_who_t>(who), out);
  if (code == 0) move_on(&out->ru_utime);
  return code;
}

int timespec_get_(timespec *at, int base) {
  const int found = timespec_get(at, base);
  if (found != 0) move_on(at);
  return found;
}

// As `struct timeb`, whose header went with the function.
struct Timeb {
  time_t time;
  unsigned short milliseconds;
  short zone, dst;
};

int ftime_(Timeb *out) {
  timespec now;
  clock_gettime_(CLOCK_REALTIME, &now);
  *out = {now.tv_sec, static_cast<unsigned short>(now.tv_nsec / 1'000'000), 0, 0};
  return 0;
}

// A time point is a number of nanoseconds, handed back as one.
int64_t steady_now_() {
  return std::chrono::steady_clock::now().time_since_epoch().count() + moved;
}

int64_t system_now_() {
  return std::chrono::system_clock::now().time_since_epoch().count() + moved;
}

// ---- what sleeps: until the moved clock says that it is over ----

int sleep_for(int64_t wanted, timespec *left) {
  if (wanted <= kNap) {
    const timespec whole = as_timespec(wanted);
    return nanosleep(&whole, left);
  }
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t over = nanoseconds(now) + moved + wanted;
  for (;;) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t rest = over - nanoseconds(now) - moved;
    if (rest <= 0) return 0;
    const timespec nap = as_timespec(rest < kLook ? rest : kLook);
    if (nanosleep(&nap, nullptr) != 0) {
      if (left != nullptr) *left = as_timespec(rest);
      return -1;
    }
  }
}

int nanosleep_(const timespec *wanted, timespec *left) {
  const bool fit = wanted->tv_sec >= 0 && wanted->tv_sec < INT64_MAX / kSecond &&
                   wanted->tv_nsec >= 0 && wanted->tv_nsec < kSecond;
  return fit ? sleep_for(nanoseconds(*wanted), left) : nanosleep(wanted, left);
}

int usleep_(useconds_t wanted) { return sleep_for(int64_t{wanted} * 1000, nullptr); }

unsigned sleep_(unsigned wanted) {
  timespec left{};
  return sleep_for(wanted * kSecond, &left) == 0 ? 0 : left.tv_sec + (left.tv_nsec > 0);
}

int clock_nanosleep_(clockid_t clock, int flags, const timespec *wanted, timespec *left) {
  if ((flags & TIMER_ABSTIME) != 0)
    return clock_nanosleep(clock, flags, Real(wanted).pointer, left);
  return nanosleep_(wanted, left) == 0 ? 0 : errno;
}

int thrd_sleep_(const timespec *wanted, timespec *left) {
  return nanosleep_(wanted, left) == 0 ? 0 : errno == EINTR ? -1 : -2;
}

void sleep_for_(int64_t seconds, int64_t more) { sleep_for(seconds * kSecond + more, nullptr); }

// ---- what waits until a time ----

int cond_timedwait_(pthread_cond_t *cond, pthread_mutex_t *mutex, const timespec *until) {
  return pthread_cond_timedwait(cond, mutex, Real(until).pointer);
}

int cond_clockwait_(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                    const timespec *until) {
  using Function = int (*)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const timespec *);
  return real<Function>("pthread_cond_clockwait")(cond, mutex, clock, Real(until).pointer);
}

int mutex_timedlock_(pthread_mutex_t *mutex, const timespec *until) {
  return pthread_mutex_timedlock(mutex, Real(until).pointer);
}

int mutex_clocklock_(pthread_mutex_t *mutex, clockid_t clock, const timespec *until) {
  using Function = int (*)(pthread_mutex_t *, clockid_t, const timespec *);
  return real<Function>("pthread_mutex_clocklock")(mutex, clock, Real(until).pointer);
}

int timedrdlock_(pthread_rwlock_t *lock, const timespec *until) {
  return pthread_rwlock_timedrdlock(lock, Real(until).pointer);
}

int timedwrlock_(pthread_rwlock_t *lock, const timespec *until) {
  return pthread_rwlock_timedwrlock(lock, Real(until).pointer);
}

int clockrdlock_(pthread_rwlock_t *lock, clockid_t clock, const timespec *until) {
  using Function = int (*)(pthread_rwlock_t *, clockid_t, const timespec *);
  return real<Function>("pthread_rwlock_clockrdlock")(lock, clock, Real(until).pointer);
}

int clockwrlock_(pthread_rwlock_t *lock, clockid_t clock, const timespec *until) {
  using Function = int (*)(pthread_rwlock_t *, clockid_t, const timespec *);
  return real<Function>("pthread_rwlock_clockwrlock")(lock, clock, Real(until).pointer);
}

int sem_timedwait_(sem_t *semaphore, const timespec *until) {
  return sem_timedwait(semaphore, Real(until).pointer);
}

int sem_clockwait_(sem_t *semaphore, clockid_t clock, const timespec *until) {
  using Function = int (*)(sem_t *, clockid_t, const timespec *);
  return real<Function>("sem_clockwait")(semaphore, clock, Real(until).pointer);
}

int cnd_timedwait_(cnd_t *cond, mtx_t *mutex, const timespec *until) {
  return cnd_timedwait(cond, mutex, Real(until).pointer);
}

int mtx_timedlock_(mtx_t *mutex, const timespec *until) {
  return mtx_timedlock(mutex, Real(until).pointer);
}

// A time of zero disarms a timer, and must not come of one that is over.
itimerspec as_real(const itimerspec *wanted, bool until) {
  itimerspec found = *wanted;
  if (until && nanoseconds(found.it_value) != 0) {
    const int64_t at = nanoseconds(found.it_value) - moved;
    found.it_value = as_timespec(at > 0 ? at : 1);
  }
  return found;
}

int timer_settime_(timer_t timer, int flags, const itimerspec *wanted, itimerspec *old) {
  const itimerspec found = as_real(wanted, (flags & TIMER_ABSTIME) != 0);
  using Function = int (*)(timer_t, int, const itimerspec *, itimerspec *);
  return real<Function>("timer_settime")(timer, flags, &found, old);
}

int timerfd_settime_(int timer, int flags, const itimerspec *wanted, itimerspec *old) {
  const itimerspec found = as_real(wanted, (flags & TFD_TIMER_ABSTIME) != 0);
  return timerfd_settime(timer, flags, &found, old);
}

// Where `std::future` waits, for both of its clocks.
#define FUTURE "_ZNSt28__atomic_futex_unsigned_base"
#define UNTIL "EPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE"
constexpr char kUntil[] = FUTURE "19_M_futex_wait_until" UNTIL;
constexpr char kSteady[] = FUTURE "26_M_futex_wait_until_steady" UNTIL;

template <const char *Name>
bool futex_wait_(void *self, unsigned *word, unsigned value, bool limited, int64_t seconds,
                 int64_t more) {
  using Function = bool (*)(void *, unsigned *, unsigned, bool, int64_t, int64_t);
  const timespec at = as_timespec(seconds * kSecond + more - moved);
  if (limited) seconds = at.tv_sec, more = at.tv_nsec;
  return real<Function>(Name)(self, word, value, limited, seconds, more);
}

// ---- what gets there by another way ----

long syscall_(long number, long a, long b, long c, long d, long e, long f) {
  switch (number) {
    case SYS_clock_gettime:
      return clock_gettime_(static_cast<clockid_t>(a), reinterpret_cast<timespec *>(b));
    case SYS_gettimeofday:
      return gettimeofday_(reinterpret_cast<timeval *>(a), reinterpret_cast<void *>(b));
#ifdef SYS_time
    case SYS_time:
      return time_(reinterpret_cast<time_t *>(a));
#endif
    case SYS_times:
      return times_(reinterpret_cast<tms *>(a));
    case SYS_getrusage:
      return getrusage_(static_cast<int>(a), reinterpret_cast<rusage *>(b));
    case SYS_nanosleep:
      return nanosleep_(reinterpret_cast<timespec *>(a), reinterpret_cast<timespec *>(b));
    case SYS_clock_nanosleep: {
      const auto wanted = reinterpret_cast<timespec *>(c), left = reinterpret_cast<timespec *>(d);
      errno = clock_nanosleep_(static_cast<clockid_t>(a), static_cast<int>(b), wanted, left);
      return errno == 0 ? 0 : -1;
    }
    case SYS_futex:
      if ((b & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET) {
        const Real until(reinterpret_cast<timespec *>(d));
        return syscall(number, a, b, c, until.pointer, e, f);
      }
      break;
    default:
      break;
  }
  return syscall(number, a, b, c, d, e, f);
}

void *replaced(const char *name);

// To be jumped to, not called, what is looked for "next" or "by default" being so from where the
// caller is: the compiler does that with a call that is the last.
void *dlsym_(void *handle, const char *name) {
  if (void *const ours = replaced(name)) return ours;
  return dlsym(handle, name);
}

void *dlvsym_(void *handle, const char *name, const char *version) {
  if (void *const ours = replaced(name)) return ours;
  return dlvsym(handle, name, version);
}

struct Replacement {
  const char *name;
  void *ours;
};

template <typename Function>
void *address(Function *function) {
  return reinterpret_cast<void *>(function);
}

const Replacement kReplacements[] = {
    {"clock_gettime", address(clock_gettime_)},
    {"gettimeofday", address(gettimeofday_)},
    {"time", address(time_)},
    {"clock", address(clock_)},
    {"times", address(times_)},
    {"getrusage", address(getrusage_)},
    {"timespec_get", address(timespec_get_)},
    {"ftime", address(ftime_)},
    {"_ZNSt6chrono3_V212steady_clock3nowEv", address(steady_now_)},
    {"_ZNSt6chrono3_V212system_clock3nowEv", address(system_now_)},
    {"nanosleep", address(nanosleep_)},
    {"usleep", address(usleep_)},
    {"sleep", address(sleep_)},
    {"clock_nanosleep", address(clock_nanosleep_)},
    {"thrd_sleep", address(thrd_sleep_)},
    {"_ZNSt11this_thread11__sleep_forENSt6chrono8durationIlSt5ratioILl1ELl1EEEENS1_IlS2_ILl1ELl1"
     "000000000EEEE",
     address(sleep_for_)},
    {"pthread_cond_timedwait", address(cond_timedwait_)},
    {"pthread_cond_clockwait", address(cond_clockwait_)},
    {"pthread_mutex_timedlock", address(mutex_timedlock_)},
    {"pthread_mutex_clocklock", address(mutex_clocklock_)},
    {"pthread_rwlock_timedrdlock", address(timedrdlock_)},
    {"pthread_rwlock_timedwrlock", address(timedwrlock_)},
    {"pthread_rwlock_clockrdlock", address(clockrdlock_)},
    {"pthread_rwlock_clockwrlock", address(clockwrlock_)},
    {"sem_timedwait", address(sem_timedwait_)},
    {"sem_clockwait", address(sem_clockwait_)},
    {"cnd_timedwait", address(cnd_timedwait_)},
    {"mtx_timedlock", address(mtx_timedlock_)},
    {"timer_settime", address(timer_settime_)},
    {"timerfd_settime", address(timerfd_settime_)},
    {kUntil, address(futex_wait_<kUntil>)},
    {kSteady, address(futex_wait_<kSteady>)},
    {"syscall", address(syscall_)},
    {"dlsym", address(dlsym_)},
    {"dlvsym", address(dlvsym_)},
};

void *replaced(const char *name) {
  if (name == nullptr) return nullptr;
  for (const Replacement &one : kReplacements)
    if (std::strcmp(one.name, name) == 0) return one.ours;
  return nullptr;
}

#if defined(__x86_64__)
bool holds_address(uint64_t kind) {
  return kind == R_X86_64_GLOB_DAT || kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_64;
}
#elif defined(__aarch64__)
bool holds_address(uint64_t kind) {
  return kind == R_AARCH64_GLOB_DAT || kind == R_AARCH64_JUMP_SLOT || kind == R_AARCH64_ABS64;
}
#else
bool holds_address(uint64_t) { return false; }
#endif

// What is read-only once it is loaded is made writable.
bool written(uintptr_t place, void *what) {
  const uintptr_t page = sysconf(_SC_PAGESIZE), from = place / page * page;
  void *const first = reinterpret_cast<void *>(from);
  const size_t size = (place + sizeof what - 1) / page * page + page - from;
  if (mprotect(first, size, PROT_READ | PROT_WRITE) != 0) return false;
  std::memcpy(reinterpret_cast<void *>(place), &what, sizeof what);
  return true;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Gives an object that `dlopen` returned the clocks of ours; returns at how many places.
int64_t optiml_clocks_take(void *handle) {
  const auto *const map = static_cast<const link_map *>(handle);
  const Elf64_Sym *symbols = nullptr;
  const char *strings = nullptr;
  uintptr_t tables[2] = {}, sizes[2] = {};
  for (const ElfW(Dyn) *one = map->l_ld; one->d_tag != DT_NULL; ++one) {
    const uintptr_t value = one->d_un.d_val;
    // The linker has made these addresses already, but where the section is read-only.
    const uintptr_t at = value < map->l_addr ? value + map->l_addr : value;
    switch (one->d_tag) {
      case DT_SYMTAB: symbols = reinterpret_cast<const Elf64_Sym *>(at); break;
      case DT_STRTAB: strings = reinterpret_cast<const char *>(at); break;
      case DT_RELA: tables[0] = at; break;
      case DT_RELASZ: sizes[0] = value; break;
      case DT_JMPREL: tables[1] = at; break;
      case DT_PLTRELSZ: sizes[1] = value; break;
      default: break;
    }
  }
  if (symbols == nullptr || strings == nullptr) return 0;
  int64_t taken = 0;
  for (int n = 0; n < 2; ++n) {
    const auto *const first = reinterpret_cast<const Elf64_Rela *>(tables[n]);
    const size_t count = tables[n] == 0 ? 0 : sizes[n] / sizeof(Elf64_Rela);
    for (size_t i = 0; i < count; ++i) {
      const Elf64_Rela &one = first[i];
      const Elf64_Sym &symbol = symbols[ELF64_R_SYM(one.r_info)];
      if (!holds_address(ELF64_R_TYPE(one.r_info)) || symbol.st_shndx != SHN_UNDEF) continue;
      void *const ours = one.r_addend == 0 ? replaced(strings + symbol.st_name) : nullptr;
      if (ours != nullptr) taken += written(map->l_addr + one.r_offset, ours);
    }
  }
  return taken;
}

// From now on the clocks that were given are so many nanoseconds ahead.
void optiml_clocks_move(int64_t nanoseconds) { moved = nanoseconds; }
}
#pragma GCC visibility pop
