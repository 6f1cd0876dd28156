// Counts what a function queues on streams other than the null stream, and holds it up when asked to;
// remembers a launch that was refused.
//
// What is queued there and not waited for is nearly always done in time by chance. Held up, it is not.
// Work that joins the null stream through events is late with it and as right as before.
//
// A launch that asks for more than there is does nothing, and host code that does not look goes on.
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime.h"

namespace {

using Stream = void *;
struct Dim3 {
  unsigned x, y, z;
};
// As `cudaLaunchConfig_t` begins.
struct Configuration {
  Dim3 grid, block;
  size_t shared;
  Stream stream;
};

std::atomic<uint64_t> strays{0};
// The error of the first launch that was refused.
std::atomic<int> refusal{0};
// How long what is queued is held up, and how often yet.
std::atomic<int64_t> microseconds{0}, left{0};

void pause(void *time) { usleep(static_cast<useconds_t>(reinterpret_cast<uintptr_t>(time))); }

// Streams 0 and 1 are the null stream.
void queued(Stream stream) {
  if (reinterpret_cast<uintptr_t>(stream) <= 1) return;
  ++strays;
  if (left.load() <= 0 || left.fetch_sub(1) <= 0) return;
  using Capturing = int (*)(Stream, int *);
  using Call = int (*)(Stream, void (*)(void *), void *);
  static void *const driver = dlopen("libcuda.so.1", RTLD_LAZY);
  static const auto capturing =
      reinterpret_cast<Capturing>(driver ? dlsym(driver, "cuStreamIsCapturing") : nullptr);
  static const auto host = reinterpret_cast<Call>(driver ? dlsym(driver, "cuLaunchHostFunc") : nullptr);
  int status = 0;
  if (capturing && host && capturing(stream, &status) == 0 && status == 0)
    host(stream, pause, reinterpret_cast<void *>(static_cast<uintptr_t>(microseconds.load())));
}

// Pass a launch's error on. One of no blocks is refused as well, and nothing was to be done by it.
int launched(int code, const Dim3 &grid, const Dim3 &block) {
  const bool any = grid.x && grid.y && grid.z && block.x && block.y && block.z;
  int none = 0;
  if (code != 0 && any) refusal.compare_exchange_strong(none, code);
  return code;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// How much was queued on other streams since this was asked last.
uint64_t optiml_strays() { return strays.exchange(0); }

// The error of the first launch that was refused since this was asked last, or zero.
int optiml_refused() { return refusal.exchange(0); }

// Hold up each of the next `most` that are queued there.
void optiml_hold(int64_t time, int64_t most) {
  microseconds = time;
  left = most;
}

int cudaLaunchKernel(const void *function, Dim3 grid, Dim3 block, void **arguments, size_t shared,
                     Stream stream) {
  queued(stream);
  using Function = int (*)(const void *, Dim3, Dim3, void **, size_t, Stream);
  static const auto real = reinterpret_cast<Function>(optiml::find("cudaLaunchKernel"));
  if (!real) return optiml::kNotSupported;
  return launched(real(function, grid, block, arguments, shared, stream), grid, block);
}

// What nvcc 13 makes of `<<<>>>`.
int __cudaLaunchKernel(void *kernel, Dim3 grid, Dim3 block, void **arguments, size_t shared,
                       Stream stream) {
  queued(stream);
  using Function = int (*)(void *, Dim3, Dim3, void **, size_t, Stream);
  static const auto real = reinterpret_cast<Function>(optiml::find("__cudaLaunchKernel"));
  if (!real) return optiml::kNotSupported;
  return launched(real(kernel, grid, block, arguments, shared, stream), grid, block);
}

int cudaLaunchCooperativeKernel(const void *function, Dim3 grid, Dim3 block, void **arguments,
                                size_t shared, Stream stream) {
  queued(stream);
  using Function = int (*)(const void *, Dim3, Dim3, void **, size_t, Stream);
  static const auto real = reinterpret_cast<Function>(optiml::find("cudaLaunchCooperativeKernel"));
  if (!real) return optiml::kNotSupported;
  return launched(real(function, grid, block, arguments, shared, stream), grid, block);
}

int cudaLaunchKernelExC(const Configuration *configuration, const void *function, void **arguments) {
  if (configuration != nullptr) queued(configuration->stream);
  using Function = int (*)(const Configuration *, const void *, void **);
  static const auto real = reinterpret_cast<Function>(optiml::find("cudaLaunchKernelExC"));
  if (!real) return optiml::kNotSupported;
  const int code = real(configuration, function, arguments);
  return configuration != nullptr ? launched(code, configuration->grid, configuration->block) : code;
}

int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, Stream stream) {
  queued(stream);
  using Function = int (*)(void *, const void *, size_t, int, Stream);
  static const auto real = reinterpret_cast<Function>(optiml::find("cudaMemcpyAsync"));
  return real ? real(to, from, bytes, kind, stream) : optiml::kNotSupported;
}

int cudaMemcpy2DAsync(void *to, size_t pitch, const void *from, size_t step, size_t width, size_t height,
                      int kind, Stream stream) {
  queued(stream);
  using Function = int (*)(void *, size_t, const void *, size_t, size_t, size_t, int, Stream);
  static const auto real = reinterpret_cast<Function>(optiml::find("cudaMemcpy2DAsync"));
  return real ? real(to, pitch, from, step, width, height, kind, stream) : optiml::kNotSupported;
}

int cudaMemsetAsync(void *to, int value, size_t bytes, Stream stream) {
  queued(stream);
  using Function = int (*)(void *, int, size_t, Stream);
  static const auto real = reinterpret_cast<Function>(optiml::find("cudaMemsetAsync"));
  return real ? real(to, value, bytes, stream) : optiml::kNotSupported;
}

int cudaGraphLaunch(void *graph, Stream stream) {
  queued(stream);
  using Function = int (*)(void *, Stream);
  static const auto real = reinterpret_cast<Function>(optiml::find("cudaGraphLaunch"));
  constexpr Dim3 kSome{1, 1, 1};
  return real ? launched(real(graph, stream), kSome, kSome) : optiml::kNotSupported;
}
}
#pragma GCC visibility pop
