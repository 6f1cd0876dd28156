// How launches are learnt of.
//
// Through CUPTI: the driver loads this library where CUDA_INJECTION64_PATH names it and calls
// `InitializeInjection`; CUPTI's callbacks for the driver's launch functions do the rest. Where
// CUPTI is not to be had, or serves a profiler already: preloaded, it stands in front of the
// driver's launch functions itself. Programs reach those by linking to libcuda, or, as the CUDA
// runtime does even where it is linked in statically, by dlsym and cuGetProcAddress.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "recorder.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

std::atomic<bool> hooking{false};
void *libcuda = nullptr;

using Symbol = void *(*)(void *, const char *);

Symbol real() {
  static const Symbol found = [] {
    for (const char *version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
      if (void *at = dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Symbol>(at);
    return Symbol(nullptr);
  }();
  return found;
}

const char *unlike(const LaunchConfig *config) {
  for (unsigned i = 0; config && config->attributes && i < config->count; ++i) {
    const LaunchAttribute &a = config->attributes[i];
    int first = 0;
    memcpy(&first, a.value, sizeof first);
    switch (a.id) {
      case kCooperative:
        if (first) return "cooperative launch";
        break;
      case kCluster: {
        unsigned size[3];
        memcpy(size, a.value, sizeof size);
        if (size[0] * size[1] * size[2] > 1) return "launch in thread block clusters";
        break;
      }
      case kProgrammaticStream:
        if (first) return "launch that overlaps the one before it (programmatic dependence)";
        break;
      case kProgrammaticEvent:
        return "launch with a programmatic event";
      default:
        break;  // where and how urgently it runs: nothing it computes depends on that
    }
  }
  return nullptr;
}

Launch plainLaunch(const LaunchKernelParams &p, const char *symbol, bool perThread,
                   const char *kind) {
  Launch l;
  l.function = p.function;
  l.symbol = symbol;
  memcpy(l.grid, p.grid, sizeof l.grid);
  memcpy(l.block, p.block, sizeof l.block);
  l.shared = p.shared;
  l.stream = p.stream;
  l.perThread = perThread;
  l.params = p.params;
  l.kind = kind;
  if (!kind) l.extra = p.extra;
  return l;
}

Launch configured(const LaunchKernelExParams &p, const char *symbol, bool perThread) {
  Launch l;
  l.function = p.function;
  l.symbol = symbol;
  memcpy(l.grid, p.config->grid, sizeof l.grid);
  memcpy(l.block, p.config->block, sizeof l.block);
  l.shared = p.config->shared;
  l.stream = p.config->stream;
  l.perThread = perThread;
  l.params = p.params;
  l.extra = p.extra;
  l.kind = unlike(p.config);
  return l;
}

constexpr const char *kCooperativeLaunch = "cooperative launch";
constexpr const char *kGraphLaunch = "graph launches: the kernels inside a graph are not seen";

// -- through CUPTI -----------------------------------------------------------------------------

void onLaunch(void *, int, uint32_t id, const CuptiData *data) {
  if (data->site == 1) {
    const Result result = data->result ? *static_cast<Result *>(data->result) : 0;
    after(reinterpret_cast<Taken *>(*data->correlation), result);
    return;
  }
  *data->correlation = 0;
  Taken *taken = nullptr;
  const auto plain = static_cast<const LaunchKernelParams *>(data->params);
  switch (id) {
    case kOnLaunch:
    case kOnLaunchPt:
      taken = before(plainLaunch(*plain, data->symbol, id == kOnLaunchPt, nullptr));
      break;
    case kOnLaunchEx:
    case kOnLaunchExPt:
      taken = before(configured(*static_cast<const LaunchKernelExParams *>(data->params),
                                data->symbol, id == kOnLaunchExPt));
      break;
    case kOnCooperative:
    case kOnCooperativePt:
      before(plainLaunch(*plain, data->symbol, false, kCooperativeLaunch));
      break;
    case kOnMultiDevice:
      refuse("cooperative launches on several devices");
      break;
    case kOnGraph:
    case kOnGraphPt:
      refuse(kGraphLaunch);
      break;
    default:
      break;
  }
  *data->correlation = reinterpret_cast<uint64_t>(taken);
}

bool subscribe() {
  // One that the program has brought along and loaded already is the one to use.
  const std::string &path = cuptiPath();
  void *cupti = dlopen(path.c_str() + path.rfind('/') + 1, RTLD_NOW | RTLD_NOLOAD);
  if (!cupti) cupti = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!cupti) {
    say("CUPTI could not be loaded");
    return false;
  }
  const auto begin = reinterpret_cast<int (*)(void **, CuptiCallback, void *)>(
      realSymbol(cupti, "cuptiSubscribe"));
  const auto enable = reinterpret_cast<int (*)(uint32_t, void *, int, uint32_t)>(
      realSymbol(cupti, "cuptiEnableCallback"));
  void *subscriber = nullptr;
  if (!begin || !enable || begin(&subscriber, onLaunch, nullptr) != 0) {
    say("CUPTI serves another tool in this process");
    return false;
  }
  bool fine = true;
  for (const uint32_t id : {kOnLaunch, kOnLaunchPt})
    fine &= enable(1, subscriber, kDriverDomain, id) == 0;
  for (const uint32_t id : {kOnCooperative, kOnCooperativePt, kOnMultiDevice, kOnGraph, kOnGraphPt,
                            kOnLaunchEx, kOnLaunchExPt})
    enable(1, subscriber, kDriverDomain, id);
  if (!fine) say("CUPTI refuses to report launches");
  return fine;
}

// -- in front of the driver --------------------------------------------------------------------

using LaunchFunction = Result (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, unsigned, Stream, void **, void **);
using LaunchExFunction = Result (*)(const LaunchConfig *, Function, void **, void **);
using CooperativeFunction = Result (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       unsigned, unsigned, Stream, void **);
using GraphFunction = Result (*)(void *, Stream);
using UnloadFunction = Result (*)(void *);
using Address5 = Result (*)(const char *, void **, int, uint64_t, int *);
using Address4 = Result (*)(const char *, void **, int, uint64_t);

struct Hook {
  const char *name;
  void *mine;
  std::atomic<void *> theirs{nullptr};
};
extern Hook hooks[];
enum { kHLaunch, kHLaunchPt, kHLaunchEx, kHLaunchExPt, kHCooperative, kHCooperativePt, kHGraph,
       kHGraphPt, kHAddress, kHAddress2, kHModule, kHLibrary, kHooks };

template <typename F>
F theirs(int which) {
  Hook &hook = hooks[which];
  void *at = hook.theirs.load(std::memory_order_acquire);
  if (!at) {
    at = driverFunction(hook.name);
    hook.theirs.store(at, std::memory_order_release);
  }
  return reinterpret_cast<F>(at);
}

Hook *hookOf(const char *name) {
  if (name[0] != 'c' || name[1] != 'u') return nullptr;
  for (int i = 0; i < kHooks; ++i)
    if (strcmp(name, hooks[i].name) == 0) return &hooks[i];
  return nullptr;
}

Result hookedLaunch(int which, bool perThread, const LaunchKernelParams &p) {
  Taken *taken = before(plainLaunch(p, nullptr, perThread, nullptr));
  const Result result =
      theirs<LaunchFunction>(which)(p.function, p.grid[0], p.grid[1], p.grid[2], p.block[0],
                                    p.block[1], p.block[2], p.shared, p.stream, p.params, p.extra);
  after(taken, result);
  return result;
}

Result hookedCooperative(int which, const LaunchKernelParams &p) {
  before(plainLaunch(p, nullptr, false, kCooperativeLaunch));
  return theirs<CooperativeFunction>(which)(p.function, p.grid[0], p.grid[1], p.grid[2],
                                            p.block[0], p.block[1], p.block[2], p.shared,
                                            p.stream, p.params);
}

Result hookedEx(int which, bool perThread, const LaunchKernelExParams &p) {
  Taken *taken = p.config ? before(configured(p, nullptr, perThread)) : nullptr;
  const Result result = theirs<LaunchExFunction>(which)(p.config, p.function, p.params, p.extra);
  after(taken, result);
  return result;
}

// What cuGetProcAddress found, or our own in its place.
void replace(const char *symbol, void **found, int version, uint64_t flags) {
  if (!hooking || !symbol || !found || !*found) return;
  if (strcmp(symbol, "cuGetProcAddress") == 0) {
    Hook &hook = hooks[version >= 12000 ? kHAddress2 : kHAddress];
    if (*found == hook.mine) return;
    hook.theirs.store(*found, std::memory_order_release);
    *found = hook.mine;
    return;
  }
  char name[64];
  const char *tail = flags & kPerThreadDefaultStream ? "_ptsz" : "";
  if (strlen(symbol) + strlen(tail) >= sizeof name) return;
  strcpy(name, symbol);
  strcat(name, tail);
  if (Hook *hook = hookOf(name)) {
    if (*found == hook->mine) return;
    hook->theirs.store(*found, std::memory_order_release);
    *found = hook->mine;
  }
}

}  // namespace

void *realSymbol(void *handle, const char *name) { return real()(handle, name); }

void *driverFunction(const char *name) {
  if (!libcuda) libcuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!libcuda) libcuda = dlopen("libcuda.so.1", RTLD_NOW);
  return libcuda ? realSymbol(libcuda, name) : nullptr;
}

#define GEOMETRY                                                                               \
  Function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, \
      unsigned shared, Stream stream, void **params
#define GIVEN {f, {gx, gy, gz}, {bx, by, bz}, shared, stream, params, extra}

EXPORT Result cuLaunchKernel(GEOMETRY, void **extra) {
  return hookedLaunch(kHLaunch, false, GIVEN);
}
EXPORT Result cuLaunchKernel_ptsz(GEOMETRY, void **extra) {
  return hookedLaunch(kHLaunchPt, true, GIVEN);
}
EXPORT Result cuLaunchCooperativeKernel(GEOMETRY) {
  void **extra = nullptr;
  return hookedCooperative(kHCooperative, GIVEN);
}
EXPORT Result cuLaunchCooperativeKernel_ptsz(GEOMETRY) {
  void **extra = nullptr;
  return hookedCooperative(kHCooperativePt, GIVEN);
}
EXPORT Result cuLaunchKernelEx(const LaunchConfig *config, Function f, void **params,
                               void **extra) {
  return hookedEx(kHLaunchEx, false, {config, f, params, extra});
}
EXPORT Result cuLaunchKernelEx_ptsz(const LaunchConfig *config, Function f, void **params,
                                    void **extra) {
  return hookedEx(kHLaunchExPt, true, {config, f, params, extra});
}
EXPORT Result cuGraphLaunch(void *graph, Stream stream) {
  refuse(kGraphLaunch);
  return theirs<GraphFunction>(kHGraph)(graph, stream);
}
EXPORT Result cuGraphLaunch_ptsz(void *graph, Stream stream) {
  refuse(kGraphLaunch);
  return theirs<GraphFunction>(kHGraphPt)(graph, stream);
}
EXPORT Result cuModuleUnload(void *module) {
  const Result result = theirs<UnloadFunction>(kHModule)(module);
  unloaded();
  return result;
}
EXPORT Result cuLibraryUnload(void *library) {
  const Result result = theirs<UnloadFunction>(kHLibrary)(library);
  unloaded();
  return result;
}
EXPORT Result cuGetProcAddress(const char *symbol, void **found, int version, uint64_t flags) {
  const Result result = theirs<Address4>(kHAddress)(symbol, found, version, flags);
  if (result == kSuccess) replace(symbol, found, version, flags);
  return result;
}
EXPORT Result cuGetProcAddress_v2(const char *symbol, void **found, int version, uint64_t flags,
                                  int *status) {
  const Result result = theirs<Address5>(kHAddress2)(symbol, found, version, flags, status);
  if (result == kSuccess) replace(symbol, found, version, flags);
  return result;
}

namespace {
#define HOOK(name) {#name, reinterpret_cast<void *>(&name)}
Hook hooks[] = {HOOK(cuLaunchKernel),
                HOOK(cuLaunchKernel_ptsz),
                HOOK(cuLaunchKernelEx),
                HOOK(cuLaunchKernelEx_ptsz),
                HOOK(cuLaunchCooperativeKernel),
                HOOK(cuLaunchCooperativeKernel_ptsz),
                HOOK(cuGraphLaunch),
                HOOK(cuGraphLaunch_ptsz),
                HOOK(cuGetProcAddress),
                HOOK(cuGetProcAddress_v2),
                HOOK(cuModuleUnload),
                HOOK(cuLibraryUnload)};
#undef HOOK
}  // namespace

// The caller of the real function has to stay the program: what RTLD_NEXT means depends on it. So
// the last call is one that the compiler turns into a jump.
EXPORT __attribute__((optimize("O2"))) void *dlsym(void *handle, const char *name) noexcept {
  if (hooking.load(std::memory_order_relaxed)) {
    if (Hook *hook = hookOf(name)) {
      void *found = real()(handle, name);
      if (!found || found == hook->mine) return found;
      hook->theirs.store(found, std::memory_order_release);
      return hook->mine;
    }
  }
  return real()(handle, name);
}

EXPORT int InitializeInjection() {
  if (!hooking && configure()) subscribe();
  return 1;
}

namespace {
__attribute__((constructor)) void begin() {
  const char *preloaded = getenv("LD_PRELOAD");
  if (!preloaded || !strstr(preloaded, "optiml-capture")) return;
  // This library once per process: a child begins its own.
  if (configure()) hooking = true;
}
}  // namespace
