// Counts device memory that a function allocates through the CUDA runtime, by who is at work.
//
// Loaded into a process with global symbols before the code that is counted, so that its calls end
// here and go on to the runtime. Nothing is changed but the count.
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "runtime.h"

namespace {

using optiml::call;
using Stream = void *;
using Pool = void *;

struct Held {
  size_t bytes;
  int64_t owner;
};
struct Sum {
  uint64_t now = 0, most = 0;
};

std::mutex lock;
std::map<void *, Held> held;
std::map<int64_t, Sum> sums;
int64_t owner = 0;

int counted(int code, void **pointer, size_t bytes) {
  if (code != 0 || pointer == nullptr || *pointer == nullptr) return code;
  const std::lock_guard<std::mutex> guard(lock);
  held[*pointer] = {bytes, owner};
  Sum &sum = sums[owner];
  sum.now += bytes;
  if (sum.now > sum.most) sum.most = sum.now;
  return code;
}

void released(void *pointer) {
  const std::lock_guard<std::mutex> guard(lock);
  const auto found = held.find(pointer);
  if (found == held.end()) return;
  sums[found->second.owner].now -= found->second.bytes;
  held.erase(found);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Whose allocations come from now on.
void optiml_allocates(int64_t who) {
  const std::lock_guard<std::mutex> guard(lock);
  owner = who;
}

// The most bytes somebody held at once.
uint64_t optiml_allocated(int64_t who) {
  const std::lock_guard<std::mutex> guard(lock);
  const auto found = sums.find(who);
  return found == sums.end() ? 0 : found->second.most;
}

int cudaMalloc(void **pointer, size_t bytes) {
  return counted(call<int (*)(void **, size_t)>("cudaMalloc", pointer, bytes), pointer, bytes);
}

int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags) {
  using Function = int (*)(void **, size_t, unsigned);
  return counted(call<Function>("cudaMallocManaged", pointer, bytes, flags), pointer, bytes);
}

int cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
  using Function = int (*)(void **, size_t *, size_t, size_t);
  const int code = call<Function>("cudaMallocPitch", pointer, pitch, width, height);
  return counted(code, pointer, pitch != nullptr ? *pitch * height : width * height);
}

int cudaMallocAsync(void **pointer, size_t bytes, Stream stream) {
  using Function = int (*)(void **, size_t, Stream);
  return counted(call<Function>("cudaMallocAsync", pointer, bytes, stream), pointer, bytes);
}

int cudaMallocAsync_ptsz(void **pointer, size_t bytes, Stream stream) {
  using Function = int (*)(void **, size_t, Stream);
  return counted(call<Function>("cudaMallocAsync_ptsz", pointer, bytes, stream), pointer, bytes);
}

int cudaMallocFromPoolAsync(void **pointer, size_t bytes, Pool pool, Stream stream) {
  using Function = int (*)(void **, size_t, Pool, Stream);
  const int code = call<Function>("cudaMallocFromPoolAsync", pointer, bytes, pool, stream);
  return counted(code, pointer, bytes);
}

int cudaFree(void *pointer) {
  released(pointer);
  return call<int (*)(void *)>("cudaFree", pointer);
}

int cudaFreeAsync(void *pointer, Stream stream) {
  released(pointer);
  return call<int (*)(void *, Stream)>("cudaFreeAsync", pointer, stream);
}

int cudaFreeAsync_ptsz(void *pointer, Stream stream) {
  released(pointer);
  return call<int (*)(void *, Stream)>("cudaFreeAsync_ptsz", pointer, stream);
}
}
#pragma GCC visibility pop
