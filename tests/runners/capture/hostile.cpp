// A program that is hard to capture: `hostile WAY MODULE OTHER`, linked to the driver.
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using Address = unsigned long long;
using Result = int;
extern "C" {
Result cuInit(unsigned);
Result cuMemAlloc_v2(Address *, size_t);
Result cuModuleLoad(void **, const char *);
Result cuModuleUnload(void *);
Result cuModuleGetFunction(void **, void *, const char *);
Result cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      void *, void **, void **);
}

static const char *const kSaxpy = "_Z5saxpyifPKfPf", *const kCount = "_Z5countPKiPii";
static Address x, y;

static void *loaded(const char *path, const char *name, void **module) {
  void *function = nullptr;
  if (cuModuleLoad(module, path) || cuModuleGetFunction(&function, *module, name)) _exit(9);
  return function;
}

static Result saxpy(void *kernel, int n) {
  float alpha = 0.5f;
  void *params[] = {&n, &alpha, &x, &y};
  return cuLaunchKernel(kernel, 1, 1, 1, 256, 1, 1, 0, nullptr, params, nullptr);
}

// Passes `count` parameters that end where memory does.
static Result atTheEnd(void *kernel, void **params, size_t count) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char *at = static_cast<char *>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(at + page, page, PROT_NONE);
  void **last = reinterpret_cast<void **>(at + page) - count;
  memcpy(last, params, count * sizeof *params);
  return cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, nullptr, last, nullptr);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  const std::string way = argv[1];
  cuInit(0);
  void *module = nullptr, *other = nullptr;
  void *kernel = loaded(argv[2], kSaxpy, &module);
  cuMemAlloc_v2(&x, 4096);
  cuMemAlloc_v2(&y, 4096);
  memset(reinterpret_cast<void *>(x), 0, 4096);
  memset(reinterpret_cast<void *>(y), 0, 4096);
  if (way == "twins") {  // a name that another module has with fewer parameters
    saxpy(kernel, 1000);
    void *nothing = &x, *params[] = {nothing};
    atTheEnd(loaded(argv[3], kSaxpy, &other), params, 1);
    saxpy(kernel, 500);
  } else if (way == "reuse") {  // a handle that is another kernel's now
    saxpy(kernel, 1000);
    cuModuleUnload(module);
    int none = 0;
    void *params[] = {&x, &y, &none};
    void *second = loaded(argv[3], kCount, &other);
    if (second != kernel) return printf("another handle\n"), 1;
    cuLaunchKernel(second, 1, 1, 1, 64, 1, 1, 0, nullptr, params, nullptr);
  } else if (way == "fork") {
    saxpy(kernel, 1000);
    for (int child = 0; child < 2; ++child) {
      if (fork() == 0) {
        saxpy(kernel, 100 + child);
        saxpy(kernel, 200 + child);
        exit(0);
      }
      int status = 0;
      wait(&status);
      if (status) return 1;
    }
    saxpy(kernel, 300);
  } else if (way == "threads") {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([=] {
        for (int i = 0; i < 200; ++i) saxpy(kernel, 100 + 10 * t + i % 3);
      });
    for (auto &one : threads) one.join();
  } else if (way == "closes") {  // as a daemon does, whose own file then has our number
    saxpy(kernel, 1000);
    for (int i = 3; i < 64; ++i) close(i);
    std::vector<int> own;
    for (int i = 0; i < 8; ++i) own.push_back(open("own", O_RDWR | O_CREAT, 0600));
    saxpy(kernel, 500);
  } else if (way == "vanishes") {
    saxpy(kernel, 1000);
    unsetenv("LD_PRELOAD");
    if (system("rm -rf \"$SPOOL\"")) return 1;
    saxpy(kernel, 500);
    saxpy(kernel, 250);
  } else {
    for (int i = 0; i < 6; ++i) saxpy(kernel, 1000 - 100 * i);
    if (way == "_exit") _exit(0);
    if (way == "quick_exit") quick_exit(0);
    if (way == "abort") abort();
    if (way == "segv") raise(SIGSEGV);
  }
  printf("done\n");
  return 0;
}
