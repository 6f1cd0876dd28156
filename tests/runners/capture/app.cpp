// A program of the driver's interface: several kernels, kinds of memory and ways of launching.
//
// `app MODULE linked|asked [N [REPEATS]]`: launch functions are those it is linked to, or asked for
// by dlsym and cuGetProcAddress, as the CUDA runtime does. With REPEATS it prints what a launch of
// nothing much takes, too, in microseconds.
#include <dlfcn.h>
#include <stdint.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using Address = unsigned long long;
using Result = int;
extern "C" {
Result cuInit(unsigned);
Result cuMemAlloc_v2(Address *, size_t);
Result cuMemAllocManaged(Address *, size_t, unsigned);
Result cuMemAllocAsync(Address *, size_t, void *);
Result cuMemHostAlloc(void **, size_t, unsigned);
Result cuMemcpyHtoD_v2(Address, const void *, size_t);
Result cuMemcpyDtoH_v2(void *, Address, size_t);
Result cuModuleLoad(void **, const char *);
Result cuModuleGetFunction(void **, void *, const char *);
Result cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **);
Result cuLaunchKernelEx(const void *, void *, void **, void **);
Result cuLaunchCooperativeKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 unsigned, void *, void **);
Result cuGraphLaunch(void *, void *);
Result fakeCapture(int);
}

#define CHECK(call)                                      \
  do {                                                   \
    const int e = (call);                                \
    if (e) return fprintf(stderr, "%s: %d\n", #call, e), 1; \
  } while (0)

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const int n = argc > 3 ? atoi(argv[3]) : 1000;
  auto launch = cuLaunchKernel;
  if (strcmp(argv[2], "asked") == 0) {
    using Ask = Result (*)(const char *, void **, int, uint64_t, int *);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    Ask ask = reinterpret_cast<Ask>(dlsym(library, "cuGetProcAddress_v2"));
    void *again = nullptr, *found = nullptr;
    CHECK(ask("cuGetProcAddress", &again, 12000, 0, nullptr));
    CHECK(reinterpret_cast<Ask>(again)("cuLaunchKernel", &found, 7000, 0, nullptr));
    launch = reinterpret_cast<decltype(launch)>(found);
  }
  CHECK(cuInit(0));
  void *module, *saxpy, *count, *gather;
  CHECK(cuModuleLoad(&module, argv[1]));
  CHECK(cuModuleGetFunction(&saxpy, module, "_Z5saxpyifPKfPf"));
  CHECK(cuModuleGetFunction(&count, module, "_Z5countPKiPii"));
  CHECK(cuModuleGetFunction(&gather, module, "_Z6gatherPKfPKiPfi"));
  std::vector<float> x(n), y(n);
  std::vector<int> keys(n), at(n);
  for (int i = 0; i < n; ++i) {
    x[i] = 0.5f * i - 7;
    y[i] = 1.0f / (i + 1);
    keys[i] = (i * 7) % 16;
    at[i] = n - 1 - i;
  }
  Address dx, dy, arena, managed, bins;
  CHECK(cuMemAlloc_v2(&dx, n * 4));
  CHECK(cuMemAllocAsync(&dy, n * 4, nullptr));
  CHECK(cuMemAllocManaged(&managed, n * 4, 1));
  CHECK(cuMemAlloc_v2(&arena, 1 << 16));  // keys at 512, indices at 32768
  CHECK(cuMemAlloc_v2(&bins, 64));
  CHECK(cuMemcpyHtoD_v2(dx, x.data(), n * 4));
  CHECK(cuMemcpyHtoD_v2(dy, y.data(), n * 4));
  CHECK(cuMemcpyHtoD_v2(arena + 512, keys.data(), n * 4));
  CHECK(cuMemcpyHtoD_v2(arena + 32768, at.data(), n * 4));
  std::vector<int> zeros(16);
  CHECK(cuMemcpyHtoD_v2(bins, zeros.data(), 64));
  const unsigned blocks = (n + 255) / 256;
  float alpha = 0.1f;
  void *streams[2] = {reinterpret_cast<void *>(0x10), reinterpret_cast<void *>(0x20)};
  for (int i = 0; i < 6; ++i) {
    int m = i < 5 ? n : n / 2;
    unsigned g = (m + 255) / 256;
    void *params[] = {&m, &alpha, &dx, &dy};
    CHECK(launch(saxpy, g, 1, 1, 256, 1, 1, 0, streams[i % 2], params, nullptr));
  }
  Address keysAt = arena + 512, indicesAt = arena + 32768;
  int many = n;
  void *counted[] = {&keysAt, &bins, &many};
  CHECK(launch(count, blocks, 1, 1, 256, 1, 1, 0, nullptr, counted, nullptr));
  char buffer[32];
  memcpy(buffer, &dx, 8);
  memcpy(buffer + 8, &indicesAt, 8);
  memcpy(buffer + 16, &managed, 8);
  memcpy(buffer + 24, &n, 4);
  size_t size = 28;
  void *extra[] = {reinterpret_cast<void *>(1), buffer, reinterpret_cast<void *>(2), &size, nullptr};
  CHECK(launch(gather, blocks, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  CHECK(cuLaunchCooperativeKernel(count, 1, 1, 1, 32, 1, 1, 0, nullptr, counted));
  struct {
    unsigned g[3], b[3], shared;
    void *stream, *attributes;
    unsigned count;
  } config{{1, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr, 0};
  struct {
    int id;
    char pad[4];
    unsigned value[16];
  } cluster{4, {}, {2, 1, 1}};
  config.attributes = &cluster;
  config.count = 1;
  CHECK(cuLaunchKernelEx(&config, count, counted, nullptr));
  CHECK(fakeCapture(1));
  CHECK(launch(count, 1, 1, 1, 64, 1, 1, 0, nullptr, counted, nullptr));
  CHECK(fakeCapture(0));
  CHECK(cuGraphLaunch(nullptr, nullptr));
  float first = 0;
  CHECK(cuMemcpyDtoH_v2(&first, managed, 4));
  printf("%g\n", first);
  const int repeats = argc > 4 ? atoi(argv[4]) : 0;
  double best = 1e30;
  for (int round = 0; round < 10 && repeats; ++round) {
    const auto begun = std::chrono::steady_clock::now();
    void *params[] = {&many, &alpha, &dx, &dy};
    many = 0;
    for (int i = 0; i < repeats / 10; ++i) launch(saxpy, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begun;
    best = std::min(best, took.count() / (repeats / 10));
  }
  if (repeats) printf("%g\n", best);
  return 0;
}
