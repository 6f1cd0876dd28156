// A CUDA driver made of host memory, as far as a capture asks one: allocations of every kind,
// streams that are always done, modules of kernels that g++ compiled, and launches.
//
// A module is a text file: `so PATH`, then `kernel MANGLED HOST OFFSET:SIZE ...` a line. Launches
// are reported to a fake CUPTI when a process has loaded one.
#include <dlfcn.h>
#include <stdint.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))
using Result = int;
using Address = unsigned long long;

namespace {

struct Kernel {
  std::string symbol;
  void (*run)(const char *, const unsigned *, const unsigned *) = nullptr;
  std::vector<std::pair<size_t, size_t>> parameters;
};
struct Module {
  std::map<std::string, Kernel *> kernels;
};
std::vector<Kernel *> handles;  // given back: the next kernel gets the last one
struct Memory {
  size_t bytes;
  int type, managed;
  void *pool;
};
std::mutex guard;  // of the memory's map
std::map<Address, Memory> &memory() {
  static auto *m = new std::map<Address, Memory>;
  return *m;
}
bool capturing = false;
int pool = 0;

Result allocate(Address *to, size_t bytes, Memory kind) {
  void *at = nullptr;
  if (posix_memalign(&at, 512, bytes) != 0) return 2;
  memset(at, 0xA5, bytes);
  *to = reinterpret_cast<Address>(at);
  kind.bytes = bytes;
  std::lock_guard<std::mutex> hold(guard);
  memory()[*to] = kind;
  return 0;
}

// Around every launch: what CUPTI would do, if it is there.
template <typename Call>
Result traced(unsigned id, const char *name, const void *params, const char *symbol, Call call) {
  using Report = void (*)(int, unsigned, const char *, const void *, int *, const char *,
                          uint64_t *);
  static const Report report = [] {  // loaded, if at all, before the first launch
    void *cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    return cupti ? reinterpret_cast<Report>(dlsym(cupti, "fakeReport")) : nullptr;
  }();
  uint64_t correlation = 0;
  int result = 0;
  if (report) report(0, id, name, params, &result, symbol, &correlation);
  result = call();
  if (report) report(1, id, name, params, &result, symbol, &correlation);
  return result;
}

Result run(void *function, const unsigned *grid, const unsigned *block, void **params,
           void **extra) {
  const Kernel &k = *static_cast<Kernel *>(function);
  std::vector<char> data(4096);
  if (params)
    for (size_t i = 0; i < k.parameters.size(); ++i)
      memcpy(data.data() + k.parameters[i].first, params[i], k.parameters[i].second);
  else
    for (void **at = extra; at && *at; at += 2)
      if (reinterpret_cast<uintptr_t>(*at) == 1) memcpy(data.data(), at[1], 64);
  k.run(data.data(), grid, block);
  return 0;
}

struct LaunchParams {
  void *f;
  unsigned g[3], b[3], shared;
  void *stream;
  void **params, **extra;
};
struct Config {
  unsigned g[3], b[3], shared;
  void *stream, *attributes;
  unsigned count;
};
struct ExParams {
  const Config *config;
  void *f;
  void **params, **extra;
};

}  // namespace

EXPORT Result cuInit(unsigned) {
  static bool done = false;
  const char *path = getenv("CUDA_INJECTION64_PATH");
  if (done || !path) return 0;
  done = true;
  void *library = dlopen(path, RTLD_NOW);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  if (library) reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
  return 0;
}
EXPORT Result cuMemAlloc_v2(Address *to, size_t bytes) {
  return allocate(to, bytes, {0, 2, 0, nullptr});
}
EXPORT Result cuMemAllocManaged(Address *to, size_t bytes, unsigned) {
  return allocate(to, bytes, {0, 2, 1, nullptr});
}
EXPORT Result cuMemAllocAsync(Address *to, size_t bytes, void *) {
  return allocate(to, bytes, {0, 2, 0, &pool});
}
EXPORT Result cuMemHostAlloc(void **to, size_t bytes, unsigned) {
  return allocate(reinterpret_cast<Address *>(to), bytes, {0, 1, 0, nullptr});
}
EXPORT Result cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
  memcpy(reinterpret_cast<void *>(to), from, bytes);
  return 0;
}
EXPORT Result cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
  memcpy(to, reinterpret_cast<void *>(from), bytes);
  return 0;
}
EXPORT Result cuCtxSynchronize() { return 0; }
EXPORT Result cuStreamIsCapturing(void *, int *status) {
  *status = capturing;
  return 0;
}
EXPORT Result cuThreadExchangeStreamCaptureMode(int *) { return 0; }
EXPORT Result fakeCapture(int on) {
  capturing = on;
  return 0;
}
EXPORT Result cuPointerGetAttributes(unsigned count, const int *wanted, void **to, Address at) {
  std::lock_guard<std::mutex> hold(guard);
  auto it = memory().upper_bound(at);
  const bool below = it != memory().begin();
  if (below) --it;
  const bool found = below && at < it->first + it->second.bytes;
  for (unsigned i = 0; i < count; ++i) {
    if (wanted[i] == 2) *static_cast<unsigned *>(to[i]) = found ? it->second.type : 0;
    if (wanted[i] == 8) *static_cast<int *>(to[i]) = found ? it->second.managed : 0;
    if (wanted[i] == 11) *static_cast<Address *>(to[i]) = found ? it->first : 0;
    if (wanted[i] == 12) *static_cast<size_t *>(to[i]) = found ? it->second.bytes : 0;
    if (wanted[i] == 17) *static_cast<void **>(to[i]) = found ? it->second.pool : nullptr;
  }
  return 0;
}
EXPORT Result cuModuleLoad(Module **to, const char *path) {
  std::ifstream in(path);
  if (!in) return 301;
  auto *module = new Module;
  void *library = nullptr;
  for (std::string text; std::getline(in, text);) {
    std::istringstream words(text);
    std::string key, symbol, host, place;
    words >> key >> symbol;
    if (key == "so") library = dlopen(symbol.c_str(), RTLD_NOW);
    if (key != "kernel") continue;
    words >> host;
    Kernel *&slot = module->kernels[symbol];
    if (handles.empty()) {
      slot = new Kernel;
    } else {
      slot = handles.back();
      handles.pop_back();
    }
    Kernel &k = *slot;
    k = Kernel();
    k.symbol = symbol;
    *reinterpret_cast<void **>(&k.run) = dlsym(library, host.c_str());
    if (!k.run) return 500;
    while (words >> place) {
      const size_t colon = place.find(':');
      k.parameters.emplace_back(std::stoul(place.substr(0, colon)),
                                std::stoul(place.substr(colon + 1)));
    }
  }
  *to = module;
  return 0;
}
EXPORT Result cuModuleGetFunction(void **to, Module *module, const char *name) {
  const auto it = module->kernels.find(name);
  if (it == module->kernels.end()) return 500;
  *to = it->second;
  return 0;
}
EXPORT Result cuModuleUnload(Module *module) {
  for (const auto &entry : module->kernels) handles.push_back(entry.second);
  delete module;
  return 0;
}
EXPORT Result cuFuncGetName(const char **to, void *function) {
  *to = static_cast<Kernel *>(function)->symbol.c_str();
  return 0;
}
EXPORT Result cuFuncGetParamInfo(void *function, size_t i, size_t *offset, size_t *size) {
  const Kernel &k = *static_cast<Kernel *>(function);
  if (i >= k.parameters.size()) return 1;
  *offset = k.parameters[i].first;
  *size = k.parameters[i].second;
  return 0;
}
EXPORT Result cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                             unsigned by, unsigned bz, unsigned shared, void *stream,
                             void **params, void **extra) {
  const LaunchParams p{f, {gx, gy, gz}, {bx, by, bz}, shared, stream, params, extra};
  const char *symbol = static_cast<Kernel *>(f)->symbol.c_str();
  return traced(307, "cuLaunchKernel", &p, symbol,
                [&] { return capturing ? 0 : run(f, p.g, p.b, params, extra); });
}
EXPORT Result cuLaunchKernelEx(const Config *config, void *f, void **params, void **extra) {
  const ExParams p{config, f, params, extra};
  const char *symbol = static_cast<Kernel *>(f)->symbol.c_str();
  return traced(652, "cuLaunchKernelEx", &p, symbol,
                [&] { return run(f, config->g, config->b, params, extra); });
}
EXPORT Result cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz,
                                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                        void *stream, void **params) {
  const LaunchParams p{f, {gx, gy, gz}, {bx, by, bz}, shared, stream, params, nullptr};
  const char *symbol = static_cast<Kernel *>(f)->symbol.c_str();
  return traced(477, "cuLaunchCooperativeKernel", &p, symbol,
                [&] { return run(f, p.g, p.b, params, nullptr); });
}
EXPORT Result cuGraphLaunch(void *, void *) {
  return traced(514, "cuGraphLaunch", nullptr, nullptr, [] { return 0; });
}
EXPORT Result cuGetProcAddress_v2(const char *symbol, void **found, int, uint64_t, int *status) {
  static const char *versions[] = {"_v2", ""};
  void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  *found = nullptr;
  for (const char *v : versions)
    if (!*found) *found = dlsym(self, (std::string(symbol) + v).c_str());
  if (status) *status = *found ? 0 : 1;
  return *found ? 0 : 500;
}
