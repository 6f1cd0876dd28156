// Counts what a function holds of the CUDA runtime's things, by who is at work: device memory, pinned
// host memory, streams, events and graphs.
//
// Loaded into a process with global symbols before the code that is counted, so that its calls end
// here and go on to the runtime. Nothing is changed but the count, and what memory holds (`fill.h`).
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "fill.h"
#include "runtime.h"

namespace {

using optiml::call;
using Handle = void *;
using Stream = void *;
using Pool = void *;

// As `Holdings` of the Python side has them.
enum Kind { kDevice, kPinned, kStreams, kEvents, kGraphs, kKinds };

struct Held {
  Kind kind;
  uint64_t size;
  int64_t owner;
};
struct Sum {
  uint64_t now[kKinds] = {}, most = 0;
};
// As `cudaExtent`, `cudaPitchedPtr` and `cudaChannelFormatDesc`.
struct Extent {
  size_t width, height, depth;
};
struct Pitched {
  void *pointer;
  size_t pitch, width, height;
};
struct Channels {
  int bits[4], kind;
};

// `cudaStreamPerThread`.
Stream const kPerThread = reinterpret_cast<Stream>(2);

std::mutex lock;
std::map<void *, Held> held;
std::map<int64_t, Sum> sums;
int64_t owner = 0;

void add(void *thing, const Held &one) {
  // What is handed out again was given back in a way that is not seen here.
  const auto [at, fresh] = held.emplace(thing, one);
  if (!fresh) {
    sums[at->second.owner].now[at->second.kind] -= at->second.size;
    at->second = one;
  }
  Sum &sum = sums[one.owner];
  sum.now[one.kind] += one.size;
  if (sum.now[kDevice] > sum.most) sum.most = sum.now[kDevice];
}

int counted(int code, void *thing, Kind kind, uint64_t size) {
  if (code != 0 || thing == nullptr || *static_cast<void **>(thing) == nullptr) return code;
  const std::lock_guard<std::mutex> guard(lock);
  add(*static_cast<void **>(thing), {kind, size, owner});
  return code;
}

int counted_device(int code, void *thing, uint64_t bytes) {
  if (code == 0 && thing != nullptr) optiml::fill_device(*static_cast<void **>(thing), bytes);
  return counted(code, thing, kDevice, bytes);
}

// `own` is the stream that is meant by none.
int counted_behind(Stream stream, Stream own, int code, void **pointer, uint64_t bytes) {
  if (code == 0 && pointer != nullptr)
    optiml::fill_behind(stream != nullptr ? stream : own, *pointer, bytes);
  return counted(code, pointer, kDevice, bytes);
}

int counted_host(int code, void **pointer, uint64_t bytes) {
  if (code == 0 && pointer != nullptr) optiml::fill_host(*pointer, bytes);
  return counted(code, pointer, kPinned, bytes);
}

// Takes off what `give_back` gives back, unless that fails. Before it is called: once given back,
// another thread may be handed the same.
template <typename Function>
int released(void *thing, Function give_back) {
  Held one{kKinds, 0, 0};
  {
    const std::lock_guard<std::mutex> guard(lock);
    const auto found = held.find(thing);
    if (found != held.end()) {
      one = found->second;
      sums[one.owner].now[one.kind] -= one.size;
      held.erase(found);
    }
  }
  const int code = give_back();
  if (code != 0 && one.kind != kKinds) {
    const std::lock_guard<std::mutex> guard(lock);
    add(thing, one);
  }
  return code;
}

int released(const char *name, void *thing) {
  return released(thing, [=] { return call<int (*)(void *)>(name, thing); });
}

int released(const char *name, void *thing, Stream stream) {
  return released(thing, [=] { return call<int (*)(void *, Stream)>(name, thing, stream); });
}

uint64_t array_bytes(const Channels *channels, size_t width, size_t height, size_t depth) {
  uint64_t bits = 0;
  for (int n = 0; channels != nullptr && n < 4; ++n) bits += channels->bits[n];
  return bits / 8 * width * (height ? height : 1) * (depth ? depth : 1);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Whose allocations come from now on.
void optiml_allocates(int64_t who) {
  const std::lock_guard<std::mutex> guard(lock);
  owner = who;
}

// The most bytes of device memory somebody held at once.
uint64_t optiml_allocated(int64_t who) {
  const std::lock_guard<std::mutex> guard(lock);
  const auto found = sums.find(who);
  return found == sums.end() ? 0 : found->second.most;
}

// How much somebody holds now: bytes of memory, or how many.
uint64_t optiml_holds(int64_t who, int64_t kind) {
  const std::lock_guard<std::mutex> guard(lock);
  const auto found = sums.find(who);
  return found == sums.end() || kind < 0 || kind >= kKinds ? 0 : found->second.now[kind];
}

int cudaMalloc(void **pointer, size_t bytes) {
  const int code = call<int (*)(void **, size_t)>("cudaMalloc", pointer, bytes);
  return counted_device(code, pointer, bytes);
}

int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  using Function = int (*)(void **, size_t, unsigned);
  const int code = call<Function>("cudaMallocManaged", pointer, bytes, flags);
  return counted_device(code, pointer, bytes);
}

int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  using Function = int (*)(void **, size_t *, size_t, size_t);
  const int code = call<Function>("cudaMallocPitch", pointer, pitch, width, height);
  return counted_device(code, pointer, pitch != nullptr ? *pitch * height : width * height);
}

int cudaMalloc3D(Pitched *pitched, Extent extent) {
  const int code = call<int (*)(Pitched *, Extent)>("cudaMalloc3D", pitched, extent);
  const uint64_t rows = extent.height * extent.depth;
  return counted_device(code, pitched, pitched != nullptr ? pitched->pitch * rows : 0);
}

int cudaMallocArray(Handle *array, const Channels *channels, size_t width, size_t height,
                    unsigned flags) {
  using Function = int (*)(Handle *, const Channels *, size_t, size_t, unsigned);
  const int code = call<Function>("cudaMallocArray", array, channels, width, height, flags);
  return counted(code, array, kDevice, array_bytes(channels, width, height, 1));
}

int cudaMalloc3DArray(Handle *array, const Channels *channels, Extent extent, unsigned flags) {
  using Function = int (*)(Handle *, const Channels *, Extent, unsigned);
  const int code = call<Function>("cudaMalloc3DArray", array, channels, extent, flags);
  const uint64_t bytes = array_bytes(channels, extent.width, extent.height, extent.depth);
  return counted(code, array, kDevice, bytes);
}

int cudaMallocAsync(void **pointer, size_t bytes, Stream stream) {
  using Function = int (*)(void **, size_t, Stream);
  const int code = call<Function>("cudaMallocAsync", pointer, bytes, stream);
  return counted_behind(stream, nullptr, code, pointer, bytes);
}

int cudaMallocAsync_ptsz(void **pointer, size_t bytes, Stream stream) {
  using Function = int (*)(void **, size_t, Stream);
  const int code = call<Function>("cudaMallocAsync_ptsz", pointer, bytes, stream);
  return counted_behind(stream, kPerThread, code, pointer, bytes);
}

int cudaMallocFromPoolAsync(void **pointer, size_t bytes, Pool pool, Stream stream) {
  using Function = int (*)(void **, size_t, Pool, Stream);
  const int code = call<Function>("cudaMallocFromPoolAsync", pointer, bytes, pool, stream);
  return counted_behind(stream, nullptr, code, pointer, bytes);
}

int cudaMallocFromPoolAsync_ptsz(void **pointer, size_t bytes, Pool pool, Stream stream) {
  using Function = int (*)(void **, size_t, Pool, Stream);
  const int code = call<Function>("cudaMallocFromPoolAsync_ptsz", pointer, bytes, pool, stream);
  return counted_behind(stream, kPerThread, code, pointer, bytes);
}

int cudaMallocHost(void **pointer, size_t bytes) {
  const int code = call<int (*)(void **, size_t)>("cudaMallocHost", pointer, bytes);
  return counted_host(code, pointer, bytes);
}

int cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  using Function = int (*)(void **, size_t, unsigned);
  const int code = call<Function>("cudaHostAlloc", pointer, bytes, flags);
  return counted_host(code, pointer, bytes);
}

int cudaFree(void *pointer) { return released("cudaFree", pointer); }
int cudaFreeArray(Handle array) { return released("cudaFreeArray", array); }
int cudaFreeHost(void *pointer) { return released("cudaFreeHost", pointer); }

int cudaFreeAsync(void *pointer, Stream stream) {
  return released("cudaFreeAsync", pointer, stream);
}

int cudaFreeAsync_ptsz(void *pointer, Stream stream) {
  return released("cudaFreeAsync_ptsz", pointer, stream);
}

int cudaStreamCreate(Stream *stream) {
  const int code = call<int (*)(Stream *)>("cudaStreamCreate", stream);
  return counted(code, stream, kStreams, 1);
}

int cudaStreamCreateWithFlags(Stream *stream, unsigned flags) {
  using Function = int (*)(Stream *, unsigned);
  const int code = call<Function>("cudaStreamCreateWithFlags", stream, flags);
  return counted(code, stream, kStreams, 1);
}

int cudaStreamCreateWithPriority(Stream *stream, unsigned flags, int priority) {
  using Function = int (*)(Stream *, unsigned, int);
  const int code = call<Function>("cudaStreamCreateWithPriority", stream, flags, priority);
  return counted(code, stream, kStreams, 1);
}

int cudaStreamDestroy(Stream stream) { return released("cudaStreamDestroy", stream); }

int cudaEventCreate(Handle *event) {
  const int code = call<int (*)(Handle *)>("cudaEventCreate", event);
  return counted(code, event, kEvents, 1);
}

int cudaEventCreateWithFlags(Handle *event, unsigned flags) {
  const int code = call<int (*)(Handle *, unsigned)>("cudaEventCreateWithFlags", event, flags);
  return counted(code, event, kEvents, 1);
}

int cudaEventDestroy(Handle event) { return released("cudaEventDestroy", event); }

int cudaGraphCreate(Handle *graph, unsigned flags) {
  const int code = call<int (*)(Handle *, unsigned)>("cudaGraphCreate", graph, flags);
  return counted(code, graph, kGraphs, 1);
}

int cudaGraphClone(Handle *graph, Handle from) {
  const int code = call<int (*)(Handle *, Handle)>("cudaGraphClone", graph, from);
  return counted(code, graph, kGraphs, 1);
}

int cudaStreamEndCapture(Stream stream, Handle *graph) {
  const int code = call<int (*)(Stream, Handle *)>("cudaStreamEndCapture", stream, graph);
  return counted(code, graph, kGraphs, 1);
}

int cudaStreamEndCapture_ptsz(Stream stream, Handle *graph) {
  const int code = call<int (*)(Stream, Handle *)>("cudaStreamEndCapture_ptsz", stream, graph);
  return counted(code, graph, kGraphs, 1);
}

// Before CUDA 12 it had two arguments more, and another third one: whatever is there goes on.
int cudaGraphInstantiate(Handle *ready, Handle graph, uint64_t third, void *log, size_t size) {
  using Function = int (*)(Handle *, Handle, uint64_t, void *, size_t);
  const int code = call<Function>("cudaGraphInstantiate", ready, graph, third, log, size);
  return counted(code, ready, kGraphs, 1);
}

int cudaGraphInstantiateWithFlags(Handle *ready, Handle graph, uint64_t flags) {
  using Function = int (*)(Handle *, Handle, uint64_t);
  const int code = call<Function>("cudaGraphInstantiateWithFlags", ready, graph, flags);
  return counted(code, ready, kGraphs, 1);
}

int cudaGraphInstantiateWithParams(Handle *ready, Handle graph, void *terms) {
  using Function = int (*)(Handle *, Handle, void *);
  const int code = call<Function>("cudaGraphInstantiateWithParams", ready, graph, terms);
  return counted(code, ready, kGraphs, 1);
}

int cudaGraphInstantiateWithParams_ptsz(Handle *ready, Handle graph, void *terms) {
  using Function = int (*)(Handle *, Handle, void *);
  const int code = call<Function>("cudaGraphInstantiateWithParams_ptsz", ready, graph, terms);
  return counted(code, ready, kGraphs, 1);
}

int cudaGraphDestroy(Handle graph) { return released("cudaGraphDestroy", graph); }
int cudaGraphExecDestroy(Handle ready) { return released("cudaGraphExecDestroy", ready); }
}
#pragma GCC visibility pop
