// A CUDA runtime without a GPU: device memory is host memory and a kernel is a host function.
// Built as libcudart.so.13 so that the interposer has something to stand in front of.
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "../../../../runners/interposer/cudart.h"

#define EXPORT extern "C"
using HostKernel = Error (*)(Dim3, Dim3, void **);

constexpr Error kInvalid = 1;
static std::atomic<Error> sticky{kSuccess};
// The clock of the events: kernels say what they take, so that a busy host changes no time.
static std::atomic<double> spentMilliseconds{0};
EXPORT void fakeSpend(double microseconds) {
  spentMilliseconds = spentMilliseconds + microseconds / 1e3;
}

// Behind a host function copies wait until something waits for them: an event recorded behind them,
// the stream, or the next launch.
struct Waiting {
  void *to;
  const void *from;
  size_t bytes;
};
struct Recorded {
  double at = 0;
  size_t behind = 0;
};
static std::mutex waitingMutex;
// A thread of the parent may hold it, which a child has not: there it would be held for ever.
static const int childrenBegin =
    pthread_atfork(nullptr, nullptr, [] { new (&waitingMutex) std::mutex; });
static std::vector<Waiting> waiting;
static size_t arrived = 0;
static bool lingers = false;
static void arrive(size_t many) {
  for (; arrived < many; ++arrived)
    memcpy(waiting[arrived].to, waiting[arrived].from, waiting[arrived].bytes);
}
static void arriveAll() {
  const std::lock_guard<std::mutex> hold(waitingMutex);
  arrive(waiting.size());
  lingers = false;
}

EXPORT void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                                   void *, void *, int *) {}
EXPORT void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}
EXPORT Error cudaGetSymbolAddress(void **at, const void *symbol) {
  *at = const_cast<void *>(symbol);
  return sticky;
}
EXPORT Error __cudaGetKernel(void **kernel, const void *function) {
  *kernel = reinterpret_cast<char *>(const_cast<void *>(function)) + 1;  // a handle of its own
  return kSuccess;
}
static Error run(const void *f, Dim3 grid, Dim3 block, void **args) {
  if (sticky) return sticky;
  arriveAll();
  if (block.x > 1024) return 9;
  const Error after = reinterpret_cast<HostKernel>(const_cast<void *>(f))(grid, block, args);
  if (after) sticky = after;
  return kSuccess;
}
EXPORT Error __cudaLaunchKernel(const void *f, Dim3 grid, Dim3 block, void **args, size_t, Stream) {
  return run(static_cast<const char *>(f) - 1, grid, block, args);
}
EXPORT Error cudaLaunchKernel(const void *f, Dim3 grid, Dim3 block, void **args, size_t, Stream) {
  return run(f, grid, block, args);
}
// Nothing here calls an exported function: that call would go through the interposer again.
static Error take(void **to, size_t bytes) {
  if (bytes > 1ull << 32) return kMemoryAllocation;
  *to = aligned_alloc(512, (bytes + 511) / 512 * 512);
  return sticky;
}
static Error give(void *at) {
  arriveAll();
  free(at);
  return sticky;
}
static Error copy(void *to, const void *from, size_t bytes) {
  if (to == nullptr || from == nullptr) return kInvalid;
  if (!sticky) memcpy(to, from, bytes);
  return sticky;
}
EXPORT Error cudaMalloc(void **to, size_t bytes) { return take(to, bytes); }
EXPORT Error cudaMallocManaged(void **to, size_t bytes, unsigned) { return take(to, bytes); }
EXPORT Error cudaMallocHost(void **to, size_t bytes) { return take(to, bytes); }
EXPORT Error cudaFree(void *at) { return give(at); }
EXPORT Error cudaFreeHost(void *at) { return give(at); }
EXPORT Error cudaMemcpy(void *to, const void *from, size_t bytes, int) {
  arriveAll();
  return copy(to, from, bytes);
}
EXPORT Error cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, Stream) {
  const std::lock_guard<std::mutex> hold(waitingMutex);
  if (lingers && !sticky && to != nullptr && from != nullptr) {
    waiting.push_back({to, from, bytes});
    return sticky;
  }
  return copy(to, from, bytes);
}
EXPORT Error cudaMemcpy2D(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t rows,
                          int) {
  if (width > tp || width > fp || rows > 1ull << 32) return kInvalid;
  for (size_t i = 0; i < rows; ++i)
    memcpy(static_cast<char *>(to) + i * tp, static_cast<const char *>(from) + i * fp, width);
  return sticky;
}
EXPORT Error cudaMemcpy3D(const Memcpy3D *p) {
  if (p == nullptr) return kInvalid;
  for (size_t z = 0; z < p->extent.depth; ++z)
    for (size_t y = 0; y < p->extent.height; ++y) {
      const auto at = [&](const PitchedPtr &side, const Pos &pos) {
        return static_cast<char *>(side.ptr) + pos.x +
               ((pos.z + z) * side.ysize + pos.y + y) * side.pitch;
      };
      memcpy(at(p->dstPtr, p->dstPos), at(p->srcPtr, p->srcPos), p->extent.width);
    }
  return sticky;
}
EXPORT Error cudaMemcpyToSymbol(const void *to, const void *from, size_t bytes, size_t offset, int) {
  return copy(static_cast<char *>(const_cast<void *>(to)) + offset, from, bytes);
}
EXPORT Error cudaMallocPitch(void **to, size_t *pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return height > 1ull << 32 ? kMemoryAllocation : take(to, *pitch * height);
}
EXPORT Error cudaDeviceSetLimit(int, size_t) { return sticky; }
EXPORT Error cudaMemset(void *at, int value, size_t bytes) {
  memset(at, value, bytes);
  return sticky;
}
EXPORT Error cudaMemsetAsync(void *at, int value, size_t bytes, Stream) {
  memset(at, value, bytes);
  return sticky;
}
EXPORT Error cudaMemGetInfo(size_t *available, size_t *all) {
  *available = *all = 4ull << 30;
  return sticky;
}
EXPORT Error cudaEventCreate(Event *event) {
  *event = new Recorded;
  return sticky;
}
EXPORT Error cudaEventRecord(Event event, Stream) {
  const std::lock_guard<std::mutex> hold(waitingMutex);
  *static_cast<Recorded *>(event) = {spentMilliseconds, waiting.size()};
  return sticky;
}
EXPORT Error cudaEventSynchronize(Event event) {
  const std::lock_guard<std::mutex> hold(waitingMutex);
  arrive(static_cast<Recorded *>(event)->behind);
  return sticky;
}
EXPORT Error cudaEventElapsedTime(float *ms, Event a, Event b) {
  *ms = static_cast<float>(static_cast<Recorded *>(b)->at - static_cast<Recorded *>(a)->at);
  return sticky;
}
EXPORT Error cudaDeviceSynchronize() {
  arriveAll();
  return sticky;
}
EXPORT Error cudaStreamSynchronize(Stream) {
  arriveAll();
  return sticky;
}
EXPORT Error cudaStreamIsCapturing(Stream, int *status) {
  *status = 0;
  return sticky;
}
EXPORT Error cudaLaunchHostFunc(Stream, void (*)(void *), void *) {
  const std::lock_guard<std::mutex> hold(waitingMutex);
  lingers = true;
  return sticky;
}
EXPORT Error cudaGetDevice(int *device) {
  *device = 0;
  return kSuccess;
}
EXPORT Error cudaDeviceReset() { return sticky; }
EXPORT Error cudaGetLastError() { return sticky; }
EXPORT const char *cudaGetErrorName(Error code) {
  return code == 700 ? "cudaErrorIllegalAddress" : code == 9 ? "cudaErrorInvalidConfiguration" : "?";
}
