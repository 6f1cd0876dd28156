// A program that is hard to watch: `hostile WAY`. Built against the runtime made of host functions.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "../../../../runners/interposer/cudart.h"

extern "C" {
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *,
                            void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
Error __cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, Stream);
Error __cudaGetKernel(void **, const void *);
Error cudaMalloc(void **, size_t);
Error cudaMallocPitch(void **, size_t *, size_t, size_t);
Error cudaMallocHost(void **, size_t);
Error cudaFree(void *);
Error cudaFreeHost(void *);
Error cudaMemcpy(void *, const void *, size_t, int);
Error cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
Error cudaMemcpy3D(const Memcpy3D *);
Error cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
Error cudaMemset(void *, int, size_t);
Error cudaDeviceSynchronize();
Error cudaDeviceReset();
Error cudaDeviceSetLimit(int, size_t);
}

static int kept;  // a device variable that the original does not have

static Error add(Dim3, Dim3, void **args) {
  int *at = *static_cast<int **>(args[0]);
  at[0] += 1;
  ++kept;
  return kSuccess;
}

static void *kernel = nullptr;
static Error launch(int *at) {
  void *args[] = {&at};
  return __cudaLaunchKernel(kernel, {1, 1, 1}, {32, 1, 1}, args, 0, nullptr);
}

static void work(int rounds) {
  std::vector<int> host(256, 7);
  for (int i = 0; i < rounds; ++i) {
    int *at = nullptr, *pinned = nullptr;
    cudaMalloc(reinterpret_cast<void **>(&at), 1024);
    cudaMallocHost(reinterpret_cast<void **>(&pinned), 64);
    cudaMemcpy(at, host.data(), 1024, kHostToDevice);
    launch(at);
    if (i % 8 == 0) cudaDeviceSynchronize();
    cudaMemcpy(host.data(), at, 1024, kDeviceToHost);
    cudaFreeHost(pinned);
    cudaFree(at);
  }
}

int main(int, char **argv) {
  const std::string way = argv[1];
  __cudaRegisterFunction(nullptr, reinterpret_cast<char *>(add), nullptr, "_Z3addPi", -1, nullptr,
                         nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterVar(nullptr, reinterpret_cast<char *>(&kept), nullptr, "kept", 0, sizeof kept, 0, 0);
  __cudaGetKernel(&kernel, reinterpret_cast<void *>(add));
  int *at = nullptr;
  cudaMalloc(reinterpret_cast<void **>(&at), 1 << 16);
  std::vector<int> host(1 << 14, 1);
  cudaMemcpy(at, host.data(), 1 << 16, kHostToDevice);
  launch(at);
  if (way == "threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(work, 100);
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) cudaDeviceSetLimit(2, 1 << 20);
    });
    for (auto &one : threads) one.join();
  } else if (way == "many") {
    work(3000);
  } else if (way == "sizes") {  // what a program asks for to see it refused
    void *huge = nullptr;
    size_t pitch = 0;
    if (!cudaMalloc(&huge, SIZE_MAX - 100)) return printf("took all there is\n"), 1;
    if (!cudaMalloc(&huge, SIZE_MAX)) return printf("took all there is\n"), 1;
    if (!cudaMallocPitch(&huge, &pitch, 64, SIZE_MAX - 1)) return printf("took all rows\n"), 1;
    if (!cudaMemcpy(at, nullptr, 64, kHostToDevice)) return printf("copied from nothing\n"), 1;
    if (!cudaMemcpy2D(at, 64, host.data(), 8, 64, SIZE_MAX / 2, kHostToDevice))
      return printf("copied without end\n"), 1;
    if (!cudaMemcpy3D(nullptr)) return printf("copied as nobody says\n"), 1;
    if (!cudaMemcpyToSymbol(&kept, nullptr, 4, 0, kHostToDevice))
      return printf("copied from nothing\n"), 1;
  } else if (way == "slab") {  // the second of two slices
    Memcpy3D part{};
    part.srcPtr = {at, 64, 64, 4};
    part.srcPos.z = 1;
    part.dstPtr = {host.data(), 64, 64, 4};
    part.extent = {64, 4, 1};
    part.kind = kDeviceToHost;
    int two = 22;
    cudaMemcpy(at + 64, &two, 4, kHostToDevice);
    cudaMemcpy3D(&part);
    printf("%d\n", host[0]);
  } else if (way == "fork") {  // while another thread is in the runtime
    std::atomic<bool> stop{false};
    std::thread other([&] {
      while (!stop) work(4);
    });
    for (int i = 0; i < 4; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        cudaMemset(at, 0, 64);
        launch(at);
        exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status) return printf("a child ended with %d\n", status), 1;
    }
    stop = true;
    other.join();
  } else if (way == "resets") {
    cudaDeviceReset();
    cudaMalloc(reinterpret_cast<void **>(&at), 64);
    launch(at);
  } else if (way == "_exit") {
    fflush(stdout);
    _exit(0);
  } else if (way == "_Exit") {
    _Exit(0);
  } else if (way == "quick_exit") {
    quick_exit(0);
  } else if (way == "abort") {
    abort();
  }
  printf("done\n");
  return 0;
}
