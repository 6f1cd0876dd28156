// The runtime's functions as the program sees them. Each does its work through the real one.
#include <cstring>
#include <thread>

#include "state.h"

#define EXPORT extern "C" __attribute__((visibility("default")))
#define REAL(name, ...) \
  static const auto real = reinterpret_cast<Error (*)(__VA_ARGS__)>(next(name)); \
  if (real == nullptr) return kMissing

namespace {

constexpr size_t kGuard = 4096, kMaxShapes = 4096;
constexpr uint64_t kMostHeld = 1500;  // milliseconds of a run, in either direction
using Hold = std::lock_guard<std::recursive_mutex>;

bool watching() { return state().active && !state().done; }

void note(const char *what) {
  Hold hold(state().mutex);
  state().notes.insert(what);
}

void cannotRepeat(const char *why) {
  Hold hold(state().mutex);
  state().replayOff = why;
}

Total *other(const char *name, uint64_t bytes) {
  Hold hold(state().mutex);
  Total &t = state().other[name];
  ++t.count;
  t.bytes += bytes;
  return &t;
}

// --- launches ---

void learnTypes(const Kernel &k, void **args) {
  State &s = state();
  if (args == nullptr) return;
  for (size_t i = 0; i < k.parameters.size(); ++i) {
    const std::string &type = k.parameters[i];
    if (type.empty() || type.back() != '*' || args[i] == nullptr) continue;
    const Allocation *a = find(*static_cast<void **>(args[i]));
    if (a && a->id < s.described.size())
      s.described[a->id].types.insert(type.substr(0, type.size() - 1));
  }
}

template <class Launch>
Error repeated(Kernel &k, Total *shape, Stream stream, const Plan &plan, uint64_t ordinal,
               Launch launch) {
  State &s = state();
  const Runtime &cuda = runtime();
  const auto begun = std::chrono::steady_clock::now();
  drain(stream, true);
  if (cuda.deviceSynchronize() != kSuccess || !snapshot(stream)) {
    Timer timer(stream, &k, nullptr, shape);
    const Error error = launch();
    timer.stop();
    return error;
  }
  const double before = k.total;
  Timer timer(stream, &k, nullptr, shape);
  Error error = launch();
  timer.stop();
  if (error != kSuccess) return error;
  drain(stream, true);
  Replay replay{ordinal, k.total - before, {}};
  std::pair<Event, Event> events;
  if (s.broken || !takeEvents(events)) return error;
  for (uint64_t i = 0; i < plan.repeats && s.replayOff.empty(); ++i) {
    Gate gate;
    float milliseconds = 0;
    bool fine = restore(stream);
    closeGate(stream, &gate);
    fine = fine && cuda.eventRecord(events.first, stream) == kSuccess;
    error = launch();
    fine = fine && cuda.eventRecord(events.second, stream) == kSuccess && error == kSuccess;
    gate.open.store(true, std::memory_order_release);
    const Error after = cuda.streamSynchronize(stream);
    if (error == kSuccess) error = after;
    if (!fine || after != kSuccess ||
        cuda.eventElapsed(&milliseconds, events.first, events.second) != kSuccess) {
      s.replayOff = "a repeated launch failed";
      break;
    }
    replay.samples.push_back(milliseconds * 1e3);
    ++s.replays;
    const auto spent = std::chrono::steady_clock::now() - begun;
    if (std::chrono::duration<double, std::milli>(spent).count() + s.replaySpent >
        s.config.replayMilliseconds)
      break;
  }
  giveEvents(events);
  s.replaySpent += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() -
                                                             begun).count();
  if (!replay.samples.empty()) {
    ++k.sampled;
    k.replays.push_back(replay);
  }
  return error;
}

template <class Launch>
Error launched(const char *api, const void *function, const Geometry &geometry, Stream stream,
               void **args, Launch launch) {
  State &s = state();
  if (!watching()) return launch();
  Inside here;
  watchIdle();
  Hold hold(s.mutex);
  Kernel &k = kernelOf(function);
  const uint64_t ordinal = k.count++;
  if (++s.launches == 1) begun();
  s.lastKernel = k.plain;
  learnTypes(k, args);
  Total *shape = nullptr;
  if (k.geometry.size() < kMaxShapes) {
    shape = &k.geometry[geometry];
    ++shape->count;
  }
  Error error = kSuccess;
  const Plan *plan = planFor(k, ordinal);
  if (inCapture(stream)) {
    s.notes.insert("graph");
    error = launch();
  } else if (renew(stream); plan != nullptr) {
    error = repeated(k, shape, stream, *plan, ordinal, launch);
  } else {
    Timer timer(stream, &k, nullptr, shape);
    error = launch();
    timer.stop();
  }
  failed(api, error);
  if (error != kSuccess) ++s.refused;
  stopEarly();
  return error;
}

// --- memory ---

template <class Allocate>
Error allocated(const char *api, Memory kind, void **to, size_t bytes, size_t front, Stream stream,
                bool ordered, Allocate allocate) {
  Inside here;
  if (!watching() || to == nullptr || bytes == 0 || inCapture(stream)) return allocate(to, bytes);
  void *base = nullptr;
  size_t rear = kGuard;
  if (bytes > SIZE_MAX - front - rear) front = rear = 0;  // to be refused, as it is without us
  Error error = allocate(&base, bytes + front + rear);
  if (error == kMemoryAllocation) {  // a program that takes all there is: no room for guards
    runtime().getLastError();
    front = rear = 0;
    error = allocate(&base, bytes);
  }
  failed(api, error);
  if (error != kSuccess) return error;
  *to = static_cast<char *>(base) + front;
  adopt(kind, static_cast<char *>(base), static_cast<char *>(*to), bytes, front, rear, stream,
        ordered);
  return error;
}

// Takes back what the program holds; returns what the runtime must be given.
void *returned(void *user) {
  Inside here;
  State &s = state();
  Hold hold(s.mutex);
  auto it = s.live.find(reinterpret_cast<uintptr_t>(user));
  if (user == nullptr || it == s.live.end()) return user;
  char *base = it->second.base;
  if (!s.done) {
    drain(nullptr, true);
    release(user, "free");
  }
  forget(user);
  return base;
}

enum class Way { In, Out, Within, Other };

bool onDevice(const void *pointer) {
  const Allocation *a = find(pointer);
  return a && (a->kind == Memory::Device || a->kind == Memory::Managed);
}

Way wayOf(int kind, const void *to, const void *from) {
  Hold hold(state().mutex);
  if (kind == kHostToDevice) return Way::In;
  if (kind == kDeviceToHost) return Way::Out;
  if (kind == kDeviceToDevice) return Way::Within;
  if (kind != kDefault) return Way::Other;
  if (onDevice(from)) return onDevice(to) ? Way::Within : Way::Out;
  return onDevice(to) ? Way::In : Way::Other;
}

const char *nameOf(Way way) {
  switch (way) {
    case Way::In: return "memcpy HtoD";
    case Way::Out: return "memcpy DtoH";
    case Way::Within: return "memcpy DtoD";
    default: return "memcpy";
  }
}

// `rows` of `width` bytes each; pitches are the distance between rows on either side.
struct Block {
  void *to;
  size_t toPitch;
  const void *from;
  size_t fromPitch, width, rows;
};

char *placeOf(const PitchedPtr &side, const Pos &at) {
  return static_cast<char *>(side.ptr) + (at.z * side.ysize + at.y) * side.pitch + at.x;
}

std::vector<char> gathered(const void *at, size_t pitch, size_t width, size_t rows) {
  std::vector<char> bytes(width * rows);
  for (size_t row = 0; row < rows; ++row)
    memcpy(bytes.data() + row * width, static_cast<const char *>(at) + row * pitch, width);
  return bytes;
}

void linger(void *milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(reinterpret_cast<uintptr_t>(milliseconds)));
}

// Has a stream wait in front of an asynchronous copy from or to pinned memory, as a busy device may.
// Who reads or overwrites that memory without waiting for the copy sees what was there before.
void holdBack(Way way, const void *to, const void *from, Stream stream) {
  State &s = state();
  const uint64_t late = s.config.lateMilliseconds;
  if (late == 0 || (way != Way::Out && way != Way::In) || inCapture(stream)) return;
  {
    Hold hold(s.mutex);
    const Allocation *a = find(way == Way::Out ? to : from);
    if (a == nullptr || (a->kind != Memory::Pinned && a->kind != Memory::Registered)) return;
    // Many copies to the device leave time for those of its results.
    uint64_t &held = way == Way::Out ? s.heldOut : s.heldIn;
    if (held + late > kMostHeld) return;
    held += late;
    s.notes.insert("held back");
  }
  if (runtime().launchHostFunc == nullptr ||
      runtime().launchHostFunc(stream, linger, reinterpret_cast<void *>(late)) != kSuccess)
    runtime().getLastError();
}

template <class Copy>
Error copied(const char *api, const Block &b, int kind, Stream stream, bool waits, Copy copy) {
  if (!watching()) return copy();
  Inside here;
  State &s = state();
  const Way way = wayOf(kind, b.to, b.from);
  if (!waits) holdBack(way, b.to, b.from, stream);
  Timer timer(stream, nullptr, other(nameOf(way), b.width * b.rows), nullptr);
  Error error = copy();
  timer.stop();
  failed(api, error);
  if (error != kSuccess) return error;
  // Only what the runtime took is read: a program may ask for what it is to be refused.
  if (way == Way::In && s.config.record) {
    if (b.rows == 1 || b.fromPitch == b.width)
      recordInput(b.from, b.width * b.rows);
    else
      recordInput(gathered(b.from, b.fromPitch, b.width, b.rows).data(), b.width * b.rows);
  }
  const bool captured = inCapture(stream);
  if (!waits && !captured && way == Way::Out && s.config.record)
    failed(api, runtime().streamSynchronize(stream));
  if (waits) drain(stream, false);
  if (way == Way::Out && !captured) {
    if (b.rows == 1 || b.toPitch == b.width || !s.config.record)
      record("copy", b.from, b.to, b.width * b.rows);
    else
      record("copy", b.from, gathered(b.to, b.toPitch, b.width, b.rows).data(), b.width * b.rows);
  }
  return error;
}

template <class Copy>
Error symbolOut(const char *api, void *to, size_t bytes, int kind, Stream stream, bool waits,
                Copy copy) {
  Inside here;
  if (!waits && watching()) holdBack(Way::Out, to, nullptr, stream);
  const Error error = copy();
  if (!watching()) return error;
  failed(api, error);
  if (error != kSuccess || (kind != kDeviceToHost && kind != kDefault)) return error;
  if (inCapture(stream)) return error;
  if (!waits && state().config.lateMilliseconds == 0)
    failed(api, runtime().streamSynchronize(stream));
  record("symbol", nullptr, to, bytes);
  return error;
}

template <class Copy>
Error symbolIn(const char *api, const void *from, size_t bytes, int kind, Copy copy) {
  Inside here;
  const Error error = copy();
  if (!watching()) return error;
  failed(api, error);
  if (error == kSuccess && (kind == kHostToDevice || kind == kDefault)) recordInput(from, bytes);
  return error;
}

template <class Call>
Error filled(Stream stream, size_t bytes, Call call) {
  Inside here;
  if (!watching()) return call();
  Timer timer(stream, nullptr, other("memset", bytes), nullptr);
  const Error error = call();
  timer.stop();
  failed("cudaMemset", error);
  return error;
}

Geometry shapeOf(Dim3 grid, Dim3 block, size_t shared) { return {grid, block, shared}; }

}  // namespace

// --- registration ---

EXPORT void __cudaRegisterFunction(void **handle, const char *function, char *deviceFunction,
                                   const char *symbol, int threads, void *a, void *b, void *c,
                                   void *d, int *e) {
  static const auto real = reinterpret_cast<void (*)(void **, const char *, char *, const char *,
                                                     int, void *, void *, void *, void *, int *)>(
      next("__cudaRegisterFunction"));
  registerKernel(function, symbol);
  if (real) real(handle, function, deviceFunction, symbol, threads, a, b, c, d, e);
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                              size_t bytes, int constant, int global) {
  static const auto real = reinterpret_cast<void (*)(void **, char *, char *, const char *, int,
                                                     size_t, int, int)>(next("__cudaRegisterVar"));
  {
    State &s = state();
    Hold hold(s.mutex);  // a library may be loaded while others launch
    if (!constant) s.globals.emplace_back(host, bytes);
    if (!constant && s.config.fresh.count(name)) s.fresh.push_back({host, bytes});
  }
  if (real) real(handle, host, device, name, ext, bytes, constant, global);
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                                     int ext, size_t bytes, int constant, int global) {
  static const auto real =
      reinterpret_cast<void (*)(void **, void **, char *, const char *, int, size_t, int, int)>(
          next("__cudaRegisterManagedVar"));
  cannotRepeat("the program has a __managed__ variable");
  if (real) real(handle, host, device, name, ext, bytes, constant, global);
}

EXPORT Error __cudaGetKernel(void **kernel, const void *function) {
  REAL("__cudaGetKernel", void **, const void *);
  const Error error = real(kernel, function);
  Hold hold(state().mutex);
  if (error == kSuccess) state().handles[*kernel] = function;
  return error;
}

EXPORT Error cudaGetKernel(void **kernel, const void *function) {
  REAL("cudaGetKernel", void **, const void *);
  const Error error = real(kernel, function);
  Hold hold(state().mutex);
  if (error == kSuccess) state().handles[*kernel] = function;
  return error;
}

// --- launches ---

#define LAUNCH(name, streamOf)                                                                  \
  EXPORT Error name(const void *f, Dim3 grid, Dim3 block, void **args, size_t shared,           \
                    Stream stream) {                                                            \
    REAL(#name, const void *, Dim3, Dim3, void **, size_t, Stream);                             \
    return launched(#name, f, shapeOf(grid, block, shared), streamOf(stream), args,             \
                    [&] { return real(f, grid, block, args, shared, stream); });                \
  }
#define LAUNCH_EX(name, streamOf)                                                               \
  EXPORT Error name(const LaunchConfig *c, const void *f, void **args) {                        \
    REAL(#name, const LaunchConfig *, const void *, void **);                                   \
    if (c == nullptr) return real(c, f, args);                                                  \
    return launched(#name, f, shapeOf(c->grid, c->block, c->shared), streamOf(c->stream), args, \
                    [&] { return real(c, f, args); });                                          \
  }
#define GRAPH(name, streamOf)                                               \
  EXPORT Error name(void *graph, Stream stream) {                           \
    REAL(#name, void *, Stream);                                            \
    if (!watching()) return real(graph, stream);                            \
    Inside here;                                                            \
    watchIdle();                                                            \
    note("graph");                                                          \
    Timer timer(streamOf(stream), nullptr, other("graph", 0), nullptr);     \
    const Error error = real(graph, stream);                                \
    timer.stop();                                                           \
    failed(#name, error);                                                   \
    return error;                                                           \
  }
#define SAME(stream) stream

LAUNCH(cudaLaunchKernel, SAME)
LAUNCH(cudaLaunchKernel_ptsz, perThread)
LAUNCH(__cudaLaunchKernel, SAME)
LAUNCH(__cudaLaunchKernel_ptsz, perThread)
LAUNCH(cudaLaunchCooperativeKernel, SAME)
LAUNCH(cudaLaunchCooperativeKernel_ptsz, perThread)
LAUNCH_EX(cudaLaunchKernelExC, SAME)
LAUNCH_EX(cudaLaunchKernelExC_ptsz, perThread)
GRAPH(cudaGraphLaunch, SAME)
GRAPH(cudaGraphLaunch_ptsz, perThread)

// --- allocations ---

EXPORT Error cudaMalloc(void **to, size_t bytes) {
  REAL("cudaMalloc", void **, size_t);
  return allocated("cudaMalloc", Memory::Device, to, bytes, kGuard, nullptr, false, real);
}

EXPORT Error cudaMallocManaged(void **to, size_t bytes, unsigned flags) {
  REAL("cudaMallocManaged", void **, size_t, unsigned);
  // No guard in front: cudaStreamAttachMemAsync wants the address the runtime gave.
  return allocated("cudaMallocManaged", Memory::Managed, to, bytes, 0, nullptr, false,
                   [&](void **p, size_t n) { return real(p, n, flags); });
}

#define MALLOC_ASYNC(name, streamOf)                                                        \
  EXPORT Error name(void **to, size_t bytes, Stream stream) {                               \
    REAL(#name, void **, size_t, Stream);                                                   \
    return allocated(#name, Memory::Device, to, bytes, kGuard, streamOf(stream), true,      \
                     [&](void **p, size_t n) { return real(p, n, stream); });               \
  }
#define MALLOC_POOL(name, streamOf)                                                         \
  EXPORT Error name(void **to, size_t bytes, void *pool, Stream stream) {                   \
    REAL(#name, void **, size_t, void *, Stream);                                           \
    return allocated(#name, Memory::Device, to, bytes, kGuard, streamOf(stream), true,      \
                     [&](void **p, size_t n) { return real(p, n, pool, stream); });         \
  }
#define FREE_ASYNC(name)                                                  \
  EXPORT Error name(void *pointer, Stream stream) {                       \
    REAL(#name, void *, Stream);                                          \
    const Error error = real(returned(pointer), stream);                  \
    failed(#name, error);                                                 \
    return error;                                                         \
  }

MALLOC_ASYNC(cudaMallocAsync, SAME)
MALLOC_ASYNC(cudaMallocAsync_ptsz, perThread)
MALLOC_POOL(cudaMallocFromPoolAsync, SAME)
MALLOC_POOL(cudaMallocFromPoolAsync_ptsz, perThread)
FREE_ASYNC(cudaFreeAsync)
FREE_ASYNC(cudaFreeAsync_ptsz)

EXPORT Error cudaMallocPitch(void **to, size_t *pitch, size_t width, size_t height) {
  REAL("cudaMallocPitch", void **, size_t *, size_t, size_t);
  if (!watching() || to == nullptr || pitch == nullptr || width == 0 || height == 0 ||
      height > SIZE_MAX - 2)
    return real(to, pitch, width, height);
  void *base = nullptr;
  const Error error = real(&base, pitch, width, height + 2);  // a row on either side
  failed("cudaMallocPitch", error);
  if (error != kSuccess) return error;
  *to = static_cast<char *>(base) + *pitch;
  adopt(Memory::Device, static_cast<char *>(base), static_cast<char *>(*to), *pitch * height,
        *pitch, *pitch, nullptr, false);
  return error;
}

EXPORT Error cudaMalloc3D(PitchedPtr *to, Extent extent) {
  REAL("cudaMalloc3D", PitchedPtr *, Extent);
  const Error error = real(to, extent);
  if (!watching()) return error;
  failed("cudaMalloc3D", error);
  if (error == kSuccess && to->ptr)
    adopt(Memory::Device, static_cast<char *>(to->ptr), static_cast<char *>(to->ptr),
          to->pitch * extent.height * extent.depth, 0, 0, nullptr, false);
  return error;
}

EXPORT Error cudaFree(void *pointer) {
  REAL("cudaFree", void *);
  const Error error = real(returned(pointer));
  failed("cudaFree", error);
  return error;
}

static Error pinned(Error error, void **to, size_t bytes) {
  if (watching() && error == kSuccess && to && *to)
    adopt(Memory::Pinned, static_cast<char *>(*to), static_cast<char *>(*to), bytes, 0, 0, nullptr,
          false);
  return error;
}

EXPORT Error cudaMallocHost(void **to, size_t bytes) {
  REAL("cudaMallocHost", void **, size_t);
  return pinned(real(to, bytes), to, bytes);
}

EXPORT Error cudaHostAlloc(void **to, size_t bytes, unsigned flags) {
  REAL("cudaHostAlloc", void **, size_t, unsigned);
  return pinned(real(to, bytes, flags), to, bytes);
}

EXPORT Error cudaFreeHost(void *pointer) {
  REAL("cudaFreeHost", void *);
  if (watching()) drain(nullptr, true);
  return real(returned(pointer));
}

EXPORT Error cudaHostRegister(void *pointer, size_t bytes, unsigned flags) {
  REAL("cudaHostRegister", void *, size_t, unsigned);
  const Error error = real(pointer, bytes, flags);
  if (watching() && error == kSuccess)
    adopt(Memory::Registered, static_cast<char *>(pointer), static_cast<char *>(pointer), bytes, 0,
          0, nullptr, false);
  return error;
}

EXPORT Error cudaHostUnregister(void *pointer) {
  REAL("cudaHostUnregister", void *);
  return real(returned(pointer));
}

// --- copies ---

#define MEMCPY(name)                                                                           \
  EXPORT Error name(void *to, const void *from, size_t bytes, int kind) {                      \
    REAL(#name, void *, const void *, size_t, int);                                            \
    return copied(#name, {to, bytes, from, bytes, bytes, 1}, kind, STREAM, true,               \
                  [&] { return real(to, from, bytes, kind); });                                \
  }
#define MEMCPY_ASYNC(name, streamOf)                                                           \
  EXPORT Error name(void *to, const void *from, size_t bytes, int kind, Stream stream) {       \
    REAL(#name, void *, const void *, size_t, int, Stream);                                    \
    return copied(#name, {to, bytes, from, bytes, bytes, 1}, kind, streamOf(stream), false,    \
                  [&] { return real(to, from, bytes, kind, stream); });                        \
  }
#define MEMCPY_2D(name)                                                                        \
  EXPORT Error name(void *to, size_t tp, const void *from, size_t fp, size_t width,            \
                    size_t height, int kind) {                                                 \
    REAL(#name, void *, size_t, const void *, size_t, size_t, size_t, int);                    \
    return copied(#name, {to, tp, from, fp, width, height}, kind, STREAM, true,                \
                  [&] { return real(to, tp, from, fp, width, height, kind); });                \
  }
#define MEMCPY_2D_ASYNC(name, streamOf)                                                        \
  EXPORT Error name(void *to, size_t tp, const void *from, size_t fp, size_t width,            \
                    size_t height, int kind, Stream stream) {                                  \
    REAL(#name, void *, size_t, const void *, size_t, size_t, size_t, int, Stream);            \
    return copied(#name, {to, tp, from, fp, width, height}, kind, streamOf(stream), false,     \
                  [&] { return real(to, tp, from, fp, width, height, kind, stream); });        \
  }
#define MEMCPY_3D(name)                                                                        \
  EXPORT Error name(const Memcpy3D *p) {                                                       \
    REAL(#name, const Memcpy3D *);                                                             \
    if (p == nullptr || p->srcArray || p->dstArray) {                                          \
      note("array");                                                                           \
      return real(p);                                                                          \
    }                                                                                          \
    /* Whole slabs: rows of every slice, as far apart as the slices' own pitch makes them. */  \
    const bool flat = p->srcPtr.ysize == p->extent.height && p->dstPtr.ysize == p->extent.height; \
    if (!flat) note("partial 3D copy");                                                        \
    const size_t rows = flat ? p->extent.height * p->extent.depth : p->extent.height;          \
    char *to = placeOf(p->dstPtr, p->dstPos);                                                  \
    const char *from = placeOf(p->srcPtr, p->srcPos);                                          \
    return copied(#name, {to, p->dstPtr.pitch, from, p->srcPtr.pitch, p->extent.width, rows},  \
                  p->kind, STREAM, true, [&] { return real(p); });                             \
  }
#define FROM_SYMBOL(name)                                                                      \
  EXPORT Error name(void *to, const void *symbol, size_t bytes, size_t offset, int kind) {     \
    REAL(#name, void *, const void *, size_t, size_t, int);                                    \
    return symbolOut(#name, to, bytes, kind, STREAM, true,                                     \
                     [&] { return real(to, symbol, bytes, offset, kind); });                   \
  }
#define FROM_SYMBOL_ASYNC(name, streamOf)                                                      \
  EXPORT Error name(void *to, const void *symbol, size_t bytes, size_t offset, int kind,       \
                    Stream stream) {                                                           \
    REAL(#name, void *, const void *, size_t, size_t, int, Stream);                            \
    return symbolOut(#name, to, bytes, kind, streamOf(stream), false,                          \
                     [&] { return real(to, symbol, bytes, offset, kind, stream); });           \
  }
#define TO_SYMBOL(name)                                                                        \
  EXPORT Error name(const void *symbol, const void *from, size_t bytes, size_t offset,         \
                    int kind) {                                                                \
    REAL(#name, const void *, const void *, size_t, size_t, int);                              \
    return symbolIn(#name, from, bytes, kind,                                                  \
                    [&] { return real(symbol, from, bytes, offset, kind); });                  \
  }
#define TO_SYMBOL_ASYNC(name)                                                                  \
  EXPORT Error name(const void *symbol, const void *from, size_t bytes, size_t offset,         \
                    int kind, Stream stream) {                                                 \
    REAL(#name, const void *, const void *, size_t, size_t, int, Stream);                      \
    return symbolIn(#name, from, bytes, kind,                                                  \
                    [&] { return real(symbol, from, bytes, offset, kind, stream); });          \
  }
#define FROM_ARRAY_2D(name)                                                                    \
  EXPORT Error name(void *to, size_t tp, const void *array, size_t w, size_t h, size_t width,  \
                    size_t height, int kind) {                                                 \
    REAL(#name, void *, size_t, const void *, size_t, size_t, size_t, size_t, int);            \
    return copied(#name, {to, tp, nullptr, 0, width, height}, kind, STREAM, true,              \
                  [&] { return real(to, tp, array, w, h, width, height, kind); });             \
  }
#define MEMSET(name)                                                                           \
  EXPORT Error name(void *at, int value, size_t bytes) {                                       \
    REAL(#name, void *, int, size_t);                                                          \
    return filled(STREAM, bytes, [&] { return real(at, value, bytes); });                      \
  }
#define MEMSET_ASYNC(name, streamOf)                                                           \
  EXPORT Error name(void *at, int value, size_t bytes, Stream stream) {                        \
    REAL(#name, void *, int, size_t, Stream);                                                  \
    return filled(streamOf(stream), bytes, [&] { return real(at, value, bytes, stream); });    \
  }

#define STREAM nullptr
MEMCPY(cudaMemcpy)
MEMCPY_2D(cudaMemcpy2D)
MEMCPY_3D(cudaMemcpy3D)
FROM_SYMBOL(cudaMemcpyFromSymbol)
TO_SYMBOL(cudaMemcpyToSymbol)
FROM_ARRAY_2D(cudaMemcpy2DFromArray)
MEMSET(cudaMemset)
#undef STREAM
#define STREAM perThread(nullptr)
MEMCPY(cudaMemcpy_ptds)
MEMCPY_2D(cudaMemcpy2D_ptds)
MEMCPY_3D(cudaMemcpy3D_ptds)
FROM_SYMBOL(cudaMemcpyFromSymbol_ptds)
TO_SYMBOL(cudaMemcpyToSymbol_ptds)
FROM_ARRAY_2D(cudaMemcpy2DFromArray_ptds)
MEMSET(cudaMemset_ptds)
#undef STREAM
MEMCPY_ASYNC(cudaMemcpyAsync, SAME)
MEMCPY_ASYNC(cudaMemcpyAsync_ptsz, perThread)
MEMCPY_2D_ASYNC(cudaMemcpy2DAsync, SAME)
MEMCPY_2D_ASYNC(cudaMemcpy2DAsync_ptsz, perThread)
FROM_SYMBOL_ASYNC(cudaMemcpyFromSymbolAsync, SAME)
FROM_SYMBOL_ASYNC(cudaMemcpyFromSymbolAsync_ptsz, perThread)
TO_SYMBOL_ASYNC(cudaMemcpyToSymbolAsync)
TO_SYMBOL_ASYNC(cudaMemcpyToSymbolAsync_ptsz)
MEMSET_ASYNC(cudaMemsetAsync, SAME)
MEMSET_ASYNC(cudaMemsetAsync_ptsz, perThread)

// --- waiting ---

EXPORT Error cudaDeviceSynchronize() {
  REAL("cudaDeviceSynchronize", );
  Inside here;
  const Error error = real();
  if (!watching()) return error;
  failed("cudaDeviceSynchronize", error);
  drain(nullptr, true);
  return error;
}

#define STREAM_SYNC(name, streamOf)            \
  EXPORT Error name(Stream stream) {           \
    REAL(#name, Stream);                       \
    Inside here;                               \
    const Error error = real(stream);          \
    if (!watching()) return error;             \
    failed(#name, error);                      \
    drain(streamOf(stream), false);            \
    return error;                              \
  }
STREAM_SYNC(cudaStreamSynchronize, SAME)
STREAM_SYNC(cudaStreamSynchronize_ptsz, perThread)

EXPORT Error cudaEventSynchronize(Event event) {
  REAL("cudaEventSynchronize", Event);
  Inside here;
  const Error error = real(event);
  if (watching()) failed("cudaEventSynchronize", error);
  return error;
}

EXPORT Error cudaStreamDestroy(Stream stream) {
  REAL("cudaStreamDestroy", Stream);
  if (watching()) drain(stream, false);
  return real(stream);
}

EXPORT Error cudaDeviceReset() {
  REAL("cudaDeviceReset", );
  State &s = state();
  Hold hold(s.mutex);
  if (watching()) {
    drain(nullptr, true);
    recordLive("reset");
    dropSnapshot();
    s.pending.clear();
    s.idle.clear();
    s.live.clear();
    s.liveBytes = 0;
    // What was kept of device variables is gone, and they are as they were loaded again.
    for (Fresh &f : s.fresh) f = {f.host, f.bytes};
  }
  return real();
}

EXPORT Error cudaSetDevice(int device) {
  REAL("cudaSetDevice", int);
  if (watching() && device != 0) {
    Hold hold(state().mutex);
    state().replayOff = "the program uses more than one device";
    state().notes.insert("several devices");
  }
  return real(device);
}

#define BEGIN_CAPTURE(name)                     \
  EXPORT Error name(Stream stream, int mode) {  \
    REAL(#name, Stream, int);                   \
    state().capturing = true;                   \
    note("graph");                              \
    return real(stream, mode);                  \
  }
BEGIN_CAPTURE(cudaStreamBeginCapture)
BEGIN_CAPTURE(cudaStreamBeginCapture_ptsz)

// A second run of the same launch would not start from the same state.
EXPORT Error cudaCreateSurfaceObject(void *surface, const void *description) {
  REAL("cudaCreateSurfaceObject", void *, const void *);
  cannotRepeat("the program writes through surfaces");
  note("surface");
  return real(surface, description);
}

EXPORT Error cudaDeviceSetLimit(int limit, size_t value) {
  REAL("cudaDeviceSetLimit", int, size_t);
  if (limit == 2) cannotRepeat("the program sizes the device heap");
  return real(limit, value);
}
