// Takes a launch down: geometry, parameters, and memory before and after it.
//
// A launch of a kernel nobody chose costs a look into a table and a count. Around one that is
// taken the device is brought to rest, every allocation that a parameter points into is copied to
// the host, and copied again behind the launch. Contents go to files named by their digest; each
// launch is a line of JSON, written as soon as it is complete, so that a crash loses one at most.
#include "recorder.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <shared_mutex>
#include <sstream>
#include <unordered_map>
#include <vector>

namespace {

constexpr size_t kMostParameters = 512, kMostParameterBytes = 32 << 10, kMostSignatures = 256;
constexpr int kMostTurns = 64;
constexpr uint64_t kSmallest = 1ull << 32;  // 8-byte values below this are no addresses

struct Driver {
  Result (*functionName)(const char **, Function);
  Result (*kernelName)(const char **, Function);
  Result (*functionParameter)(Function, size_t, size_t *, size_t *);
  Result (*kernelParameter)(Function, size_t, size_t *, size_t *);
  Result (*pointer)(unsigned, const int *, void **, Address);
  Result (*copyOut)(void *, Address, size_t);
  Result (*synchronize)();
  Result (*capturing)(Stream, int *);
  Result (*capturingPt)(Stream, int *);
  Result (*captureMode)(int *);
};

struct Parameter {
  size_t offset = 0, size = 0;
};

struct Signature {
  uint64_t count = 0, taken = 0, next = 0;
  int number = 0;
  std::string geometry;
};

struct Kernel {
  std::string symbol, name;
  bool chosen = false;
  std::atomic<uint64_t> launches{0};
  std::map<std::string, Signature> signatures;
  uint64_t taken = 0;
};

struct Region {
  Address base = 0, from = 0;  // the allocation, and where the part that is kept begins
  size_t size = 0;             // of the allocation
  const char *memory = "device";
  bool cut = false;
  std::vector<char> held;
  std::string before, after, trouble;
};

struct Config {
  std::string folder, cupti;
  std::set<std::string> kernels;
  uint64_t launches = 4, skip = 0, most = 1ull << 30, total = 4ull << 30;
  bool all = false;
};

struct State {
  Config config;
  std::string folder;  // of this process; made when there is something to keep
  std::atomic<bool> active{false}, made{false};
  pid_t owner = 0;
  // Goes up when handles may have come to mean other kernels: what threads remember is void then.
  std::atomic<uint64_t> generation{1};
  std::shared_mutex table;
  std::unordered_map<Function, Kernel *> byHandle;
  std::map<std::string, std::unique_ptr<Kernel>> bySymbol;
  std::recursive_mutex mutex;  // held from before a launch that is taken until behind it
  std::atomic<uint64_t> kernels{0};  // that were launched and not chosen
  std::map<std::pair<std::string, std::string>, uint64_t> refused;
  std::set<std::string> notes, blobs;
  uint64_t stored = 0;
};

State *&current() {
  static State *s = new State;  // launches may be made while static objects are taken down
  return s;
}

State &state() { return *current(); }

template <typename F>
void find(F &target, const char *name) {
  target = reinterpret_cast<F>(driverFunction(name));
}

const Driver &driver() {
  static const Driver found = [] {
    Driver d;
    find(d.functionName, "cuFuncGetName");
    find(d.kernelName, "cuKernelGetName");
    find(d.functionParameter, "cuFuncGetParamInfo");
    find(d.kernelParameter, "cuKernelGetParamInfo");
    find(d.pointer, "cuPointerGetAttributes");
    find(d.copyOut, "cuMemcpyDtoH_v2");
    find(d.synchronize, "cuCtxSynchronize");
    find(d.capturing, "cuStreamIsCapturing");
    find(d.capturingPt, "cuStreamIsCapturing_ptsz");
    find(d.captureMode, "cuThreadExchangeStreamCaptureMode");
    return d;
  }();
  return found;
}

std::string demangled(const std::string &symbol) {
  int status = 0;
  char *text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string found = status == 0 && text ? text : symbol;
  free(text);
  return found;
}

// `void ns::scan<float, 256>(float*, int)` -> `ns::scan<float, 256>`, and without what is around.
std::string instance(const std::string &name) {
  int depth = 0;
  size_t end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && name.compare(i, 21, "(anonymous namespace)") != 0) {
      end = i;
      break;
    }
  }
  std::string found = name.substr(0, end);
  depth = 0;
  for (size_t i = found.size(); i-- > 0;) {  // a template's name has its result before it
    if (found[i] == '>') ++depth;
    if (found[i] == '<') --depth;
    if (found[i] == ' ' && depth == 0 && found.compare(i + 1, 10, "namespace)") != 0)
      return found.substr(i + 1);
  }
  return found;
}

std::string plain(const std::string &full) {
  std::string found = full.substr(0, full.find('<'));
  const size_t colons = found.rfind("::");
  return colons == std::string::npos ? found : found.substr(colons + 2);
}

std::string squeezed(const std::string &text) {
  std::string out;
  for (const char c : text)
    if (c != ' ') out += c;
  return out;
}

bool isChosen(const Config &c, const std::string &symbol, const std::string &name) {
  if (c.all) return true;
  const std::string full = instance(name);
  const std::string bare = full.substr(0, full.find('<'));
  for (const std::string &one : {symbol, squeezed(full), bare, plain(full)})
    if (c.kernels.count(one)) return true;
  // `scan<float, 256>` of whatever namespace.
  const std::string inner = plain(full) + full.substr(std::min(bare.size(), full.size()));
  return c.kernels.count(squeezed(inner)) != 0;
}

Kernel *known(const Launch &launch) {
  State &s = state();
  thread_local Function lastHandle = nullptr;
  thread_local Kernel *last = nullptr;
  thread_local uint64_t lastGeneration = 0;
  const uint64_t generation = s.generation.load(std::memory_order_acquire);
  // A handle that was given back may be that of another kernel now; CUPTI says of which.
  const auto named = [&](const Kernel &k) {
    return !launch.symbol || k.symbol == launch.symbol;
  };
  if (launch.function == lastHandle && generation == lastGeneration && last && named(*last))
    return last;
  {
    std::shared_lock<std::shared_mutex> hold(s.table);
    const auto it = s.byHandle.find(launch.function);
    if (it != s.byHandle.end() && named(*it->second)) {
      lastHandle = launch.function;
      lastGeneration = generation;
      return last = it->second;
    }
  }
  const char *symbol = launch.symbol;
  if (!symbol) {
    const Driver &d = driver();
    if (!d.functionName || d.functionName(&symbol, launch.function) != kSuccess) symbol = nullptr;
    if (!symbol && d.kernelName && d.kernelName(&symbol, launch.function) != kSuccess)
      symbol = nullptr;
  }
  const std::string text = symbol ? symbol : "?";
  std::unique_lock<std::shared_mutex> hold(s.table);
  std::unique_ptr<Kernel> &place = s.bySymbol[text];
  if (!place) {
    place.reset(new Kernel);
    place->symbol = text;
    place->name = demangled(text);
    place->chosen = symbol && isChosen(s.config, place->symbol, place->name);
  }
  s.byHandle[launch.function] = place.get();
  return place.get();
}

// Asked at each launch of a kernel that was chosen: two modules may hold kernels of one name and
// other parameters, and whoever trusted an earlier answer would read beyond what was passed.
std::vector<Parameter> described(Function function) {
  const Driver &d = driver();
  std::vector<Parameter> found;
  for (auto ask : {d.functionParameter, d.kernelParameter}) {
    found.clear();
    for (size_t i = 0; ask && i < kMostParameters; ++i) {
      Parameter p;
      if (ask(function, i, &p.offset, &p.size) != kSuccess) break;
      if (p.size == 0 || p.size > kMostParameterBytes || p.offset > kMostParameterBytes - p.size)
        return {};
      found.push_back(p);
    }
    if (!found.empty()) return found;
  }
  return found;
}

// The launch's parameters as the device gets them; empty when they are given in no known way.
std::vector<char> packed(const std::vector<Parameter> &parameters, const Launch &launch) {
  size_t size = 0;
  for (const Parameter &p : parameters) size = std::max(size, p.offset + p.size);
  std::vector<char> out(size);
  if (launch.params) {
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (!launch.params[i]) return {};
      const Parameter &p = parameters[i];
      memcpy(out.data() + p.offset, launch.params[i], p.size);
    }
    return out;
  }
  const void *buffer = nullptr;
  size_t given = 0;
  // CU_LAUNCH_PARAM_BUFFER_POINTER is 1, its SIZE is 2, END is 0.
  for (void **at = launch.extra; at && *at; at += 2) {
    if (reinterpret_cast<uintptr_t>(*at) == 1) buffer = at[1];
    if (reinterpret_cast<uintptr_t>(*at) == 2) given = *static_cast<size_t *>(at[1]);
  }
  if (!buffer || given < size) return {};
  memcpy(out.data(), buffer, size);
  return out;
}

uint64_t word(const std::vector<char> &data, size_t at) {
  uint64_t value = 0;
  memcpy(&value, data.data() + at, 8);
  return value;
}

std::string signatureOf(const std::vector<Parameter> &parameters, const Launch &launch,
                        const std::vector<char> &data) {
  std::string key(reinterpret_cast<const char *>(launch.grid), sizeof launch.grid);
  key.append(reinterpret_cast<const char *>(launch.block), sizeof launch.block);
  key.append(reinterpret_cast<const char *>(&launch.shared), sizeof launch.shared);
  for (const Parameter &p : parameters)
    for (size_t at = 0; at < p.size; at += 8) {
      const size_t bytes = std::min<size_t>(8, p.size - at);
      // What may be an address differs from launch to launch and says nothing of its size.
      if (bytes == 8 && word(data, p.offset + at) >= kSmallest) continue;
      key.append(data.data() + p.offset + at, bytes);
    }
  return key;
}

bool address(uint64_t value, Region &region) {
  if (value < kSmallest || !driver().pointer) return false;
  static const int wanted[] = {kMemoryType, kRangeStart, kRangeSize, kIsManaged, kPool};
  unsigned type = 0;
  int managed = 0;
  Address start = 0;
  size_t size = 0;
  void *pool = nullptr;
  void *into[] = {&type, &start, &size, &managed, &pool};
  if (driver().pointer(5, wanted, into, value) != kSuccess) {
    pool = nullptr;
    if (driver().pointer(4, wanted, into, value) != kSuccess) return false;
  }
  if (type != kHostMemory && type != kDeviceMemory && type != kUnifiedMemory) return false;
  if (size == 0 || value < start || value - start >= size) return false;
  region.base = region.from = start;
  region.size = size;
  region.memory = managed ? "managed" : type == kHostMemory ? "pinned" : pool ? "pool" : "device";
  return true;
}

// Two unlike digests of 64 bits: contents are told apart by them, not defended.
std::string digest(const char *data, size_t size) {
  uint64_t a = 0x9E3779B97F4A7C15ull ^ size, b = 0xC2B2AE3D27D4EB4Full + size;
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t w;
    memcpy(&w, data + i, 8);
    a = (a ^ w) * 0x9FB21C651E98DF25ull;
    a ^= a >> 32;
    b = (b + w) * 0xD6E8FEB86659FD93ull;
    b = (b << 31) | (b >> 33);
  }
  for (; i < size; ++i) {
    a = (a ^ static_cast<unsigned char>(data[i])) * 0x9FB21C651E98DF25ull;
    b = (b + static_cast<unsigned char>(data[i])) * 0xD6E8FEB86659FD93ull;
  }
  a ^= a >> 29;
  b ^= b >> 29;
  char text[33];
  snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(a),
           static_cast<unsigned long long>(b));
  return text;
}

bool writeAll(int file, const char *data, size_t size) {
  while (size) {
    const ssize_t done = write(file, data, std::min<size_t>(size, 1u << 30));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    data += done;
    size -= static_cast<size_t>(done);
  }
  return true;
}

// Keeps contents in a file; its name, or empty when there is no room.
std::string keep(const std::vector<char> &data) {
  State &s = state();
  const std::string name = digest(data.data(), data.size()) + "-" + std::to_string(data.size());
  if (s.blobs.count(name)) return name;
  if (s.stored + data.size() > s.config.total) return "";
  const std::string path = s.folder + "/" + name;
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool fine = file >= 0 && writeAll(file, data.data(), data.size());
  if (file >= 0) fine = close(file) == 0 && fine;
  if (!fine) {
    unlink(path.c_str());
    return "";
  }
  s.stored += data.size();
  s.blobs.insert(name);
  return name;
}

bool copyOut(Region &region, size_t size, std::vector<char> &into) {
  into.resize(size);
  return driver().copyOut && driver().copyOut(into.data(), region.from, size) == kSuccess;
}

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u >= 0x7F) {
      char code[8];
      snprintf(code, sizeof code, "\\u%04x", u);
      out += code;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string hex(const char *data, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < size; ++i) {
    const unsigned char u = static_cast<unsigned char>(data[i]);
    out += digits[u >> 4];
    out += digits[u & 15];
  }
  return out;
}

std::string triple(const unsigned *v) {
  std::ostringstream out;
  out << '[' << v[0] << ',' << v[1] << ',' << v[2] << ']';
  return out.str();
}

// Adds a line whole or not at all. No file is held open: a program may close any number, and open
// a file of its own by it.
bool line(const std::string &text) {
  const std::string path = state().folder + "/launches.jsonl", whole = text + "\n";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  struct stat before {};
  bool fine = fstat(file, &before) == 0 && writeAll(file, whole.data(), whole.size());
  if (!fine && ftruncate(file, before.st_size) != 0) state().active = false;
  fine = close(file) == 0 && fine;
  return fine;
}

// Makes this process' folder. A process may become another program: a script that ends in `exec`.
bool ready() {
  State &s = state();
  if (s.made) return true;
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  if (s.made || !s.active) return s.made;
  s.owner = getpid();
  const std::string base = s.config.folder + "/" + std::to_string(s.owner);
  for (int turn = 0; turn < kMostTurns && !s.made; ++turn) {
    s.folder = base + "-" + std::to_string(turn);
    s.made = mkdir(s.folder.c_str(), 0700) == 0;
    if (!s.made && errno != EEXIST) break;
  }
  if (!s.made) s.active = false;
  return s.made;
}

void note(const std::string &kernel, const std::string &why) {
  std::lock_guard<std::recursive_mutex> hold(state().mutex);
  ++state().refused[{kernel, why}];
}

// Everything that was seen so far, in a file of its own that is replaced as a whole.
void summarize() {
  State &s = state();
  if (!s.active || !s.made || getpid() != s.owner) return;
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  std::shared_lock<std::shared_mutex> table(s.table);
  std::ostringstream out;
  out << "{\"kernels\":[";
  const char *comma = "";
  for (const auto &entry : s.bySymbol) {
    const Kernel &k = *entry.second;
    out << comma << "{\"symbol\":" << quoted(k.symbol) << ",\"name\":" << quoted(k.name)
        << ",\"chosen\":" << (k.chosen ? "true" : "false") << ",\"launches\":" << k.launches
        << ",\"signatures\":[";
    const char *inner = "";
    for (const auto &one : k.signatures) {
      out << inner << "[" << one.second.number << "," << one.second.count << "]";
      inner = ",";
    }
    out << "]}";
    comma = ",";
  }
  out << "],\"refused\":[";
  comma = "";
  for (const auto &entry : s.refused) {
    out << comma << "{\"kernel\":" << quoted(entry.first.first)
        << ",\"why\":" << quoted(entry.first.second) << ",\"count\":" << entry.second << "}";
    comma = ",";
  }
  out << "],\"notes\":[";
  comma = "";
  for (const std::string &one : s.notes) {
    out << comma << quoted(one);
    comma = ",";
  }
  out << "]}\n";
  const std::string path = s.folder + "/summary.json", fresh = path + ".new", text = out.str();
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  const bool fine = writeAll(file, text.data(), text.size());
  // A disk that is full leaves the one before as it was.
  if (close(file) != 0 || !fine || rename(fresh.c_str(), path.c_str()) != 0) unlink(fresh.c_str());
}

// What a program has launched is written down now and then, for those that end without a word.
bool due(uint64_t number) { return (number & (number - 1)) == 0; }

// A child is a process of its own: other folder, other launches, and no lock that a thread of its
// parent holds.
void inChild() {
  State *fresh = new State;
  fresh->config = state().config;
  fresh->active = state().active.load();
  fresh->generation = state().generation.load() + 1;
  current() = fresh;
}

// While the device is read, the thread may call what a capture of a graph elsewhere forbids.
struct Relaxed {
  int mode = kRelaxed;
  Relaxed() {
    if (driver().captureMode) driver().captureMode(&mode);
  }
  ~Relaxed() {
    if (driver().captureMode) driver().captureMode(&mode);
  }
};

bool inGraph(const Launch &launch) {
  int status = 0;
  const auto ask = launch.perThread && driver().capturingPt ? driver().capturingPt
                                                            : driver().capturing;
  return ask && ask(launch.stream, &status) == kSuccess && status != 0;
}

}  // namespace

struct Taken {
  Kernel *kernel = nullptr;
  uint64_t ordinal = 0;
  int signature = 0;
  Launch launch;
  std::vector<Parameter> parameters;
  std::vector<char> data;
  std::map<Address, Region> regions;
  std::map<uint64_t, Address> pointers;  // place among the parameters -> allocation
};

bool configure() {
  const char *path = getenv("OPTIML_CAPTURE");
  if (!path) return false;
  State &s = state();
  std::ifstream in(path);
  for (std::string text; std::getline(in, text);) {
    const size_t space = text.find(' ');
    if (space == std::string::npos) continue;
    const std::string key = text.substr(0, space), value = text.substr(space + 1);
    if (key == "folder") s.config.folder = value;
    if (key == "cupti") s.config.cupti = value;
    if (key == "kernel") s.config.kernels.insert(squeezed(value));
    if (key == "all") s.config.all = value == "1";
    if (key == "launches") s.config.launches = strtoull(value.c_str(), nullptr, 10);
    if (key == "skip") s.config.skip = strtoull(value.c_str(), nullptr, 10);
    if (key == "most") s.config.most = strtoull(value.c_str(), nullptr, 10);
    if (key == "total") s.config.total = strtoull(value.c_str(), nullptr, 10);
  }
  if (s.config.folder.empty()) return false;
  s.active = true;
  pthread_atfork(nullptr, nullptr, inChild);
  atexit(summarize);
  at_quick_exit(summarize);
  return true;
}

const std::string &cuptiPath() { return state().config.cupti; }

void refuse(const char *what) {
  if (ready()) note("", what);
}

void say(const char *what) {
  if (!ready()) return;
  std::lock_guard<std::recursive_mutex> hold(state().mutex);
  state().notes.insert(what);
}

void unloaded() {
  State &s = state();
  std::unique_lock<std::shared_mutex> hold(s.table);
  s.byHandle.clear();
  ++s.generation;
}

namespace {

Taken *taken(const Launch &launch) {
  State &s = state();
  if (!s.active || !ready()) return nullptr;
  Kernel *kernel = known(launch);
  const uint64_t ordinal = kernel->launches.fetch_add(1, std::memory_order_relaxed);
  if (!kernel->chosen) {
    if (ordinal == 0 && due(s.kernels.fetch_add(1) + 1)) summarize();
    return nullptr;
  }
  if (due(ordinal + 1)) summarize();
  if (launch.kind) {
    note(kernel->symbol, launch.kind);
    return nullptr;
  }
  std::unique_lock<std::recursive_mutex> hold(s.mutex);
  const std::vector<Parameter> parameters = described(launch.function);
  if (parameters.empty()) {
    note(kernel->symbol, "the driver does not tell its parameters (before CUDA 12.4), or none");
    return nullptr;
  }
  std::unique_ptr<Taken> taken(new Taken);
  taken->data = packed(parameters, launch);
  if (taken->data.empty()) {
    note(kernel->symbol, "parameters are passed in a way that is not known");
    return nullptr;
  }
  const std::string key = signatureOf(parameters, launch, taken->data);
  auto place = kernel->signatures.find(key);
  if (place == kernel->signatures.end()) {
    if (kernel->signatures.size() >= kMostSignatures) return nullptr;
    place = kernel->signatures.emplace(key, Signature()).first;
    place->second.number = static_cast<int>(kernel->signatures.size()) - 1;
  }
  Signature &signature = place->second;
  const uint64_t turn = signature.count++;
  if (ordinal < s.config.skip || kernel->taken >= s.config.launches) return nullptr;
  // The first of each kind, and a later one with other contents: two of a kind at most, so that
  // kinds that come late are seen.
  if (signature.taken >= 2 || turn < signature.next) return nullptr;
  Relaxed relaxed;
  if (inGraph(launch)) {
    note(kernel->symbol, "launched into a graph that is being made");
    return nullptr;
  }
  if (!driver().synchronize || driver().synchronize() != kSuccess) {
    note(kernel->symbol, "the device could not be brought to rest before it");
    return nullptr;
  }
  size_t sum = 0;
  const uint64_t most = s.config.most > UINT64_MAX / 2 ? UINT64_MAX : 2 * s.config.most;
  for (const Parameter &p : parameters)
    for (size_t at = 0; at + 8 <= p.size; at += 8) {
      if ((p.offset + at) % 8) continue;
      const uint64_t value = word(taken->data, p.offset + at);
      Region region;
      if (!address(value, region)) continue;
      if (region.size > s.config.most) {  // a pool or an arena: what lies behind the pointer
        region.cut = true;
        region.from = value;
      }
      taken->pointers[p.offset + at] = region.from;
      if (taken->regions.count(region.from)) continue;
      const size_t left = region.size - static_cast<size_t>(region.from - region.base);
      const size_t size = std::min<size_t>(left, s.config.most);
      if (size > most || sum > most - size) {
        region.trouble = "it would exceed the limit for one launch";
      } else if (!copyOut(region, size, region.held)) {
        region.trouble = "it could not be read";
      } else {
        sum += size;
        region.before = keep(region.held);
        if (region.before.empty()) region.trouble = "the capture is full";
      }
      taken->regions[region.from] = std::move(region);
    }
  taken->kernel = kernel;
  taken->parameters = parameters;
  taken->ordinal = ordinal;
  taken->signature = signature.number;
  taken->launch = launch;
  ++kernel->taken;
  ++signature.taken;
  signature.next = signature.count + 3;
  hold.release();  // unlocked in `after`
  return taken.release();
}

void written(Taken *taken, Result result) {
  Kernel &kernel = *taken->kernel;
  Relaxed relaxed;
  if (result != kSuccess || !driver().synchronize || driver().synchronize() != kSuccess) {
    --kernel.taken;
    note(kernel.symbol, "the launch failed");
    return;
  }
  for (auto &entry : taken->regions) {
    Region &region = entry.second;
    if (!region.trouble.empty()) continue;
    std::vector<char> now;
    if (!copyOut(region, region.held.size(), now))
      region.trouble = "it could not be read after the launch";
    else if (now == region.held)
      region.after = region.before;
    else if ((region.after = keep(now)).empty())
      region.trouble = "the capture is full";
    region.held = std::vector<char>();
  }
  const Launch &l = taken->launch;
  std::ostringstream out;
  out << "{\"symbol\":" << quoted(kernel.symbol) << ",\"name\":" << quoted(kernel.name)
      << ",\"ordinal\":" << taken->ordinal << ",\"signature\":" << taken->signature
      << ",\"grid\":" << triple(l.grid) << ",\"block\":" << triple(l.block)
      << ",\"shared\":" << l.shared << ",\"regions\":[";
  std::map<Address, int> numbers;
  const char *comma = "";
  for (const auto &entry : taken->regions) {
    const Region &r = entry.second;
    numbers.emplace(entry.first, static_cast<int>(numbers.size()));
    out << comma << "{\"memory\":\"" << r.memory << "\",\"bytes\":" << r.size
        << ",\"cut\":" << (r.cut ? "true" : "false") << ",\"before\":" << quoted(r.before)
        << ",\"after\":" << quoted(r.after) << ",\"trouble\":" << quoted(r.trouble) << "}";
    comma = ",";
  }
  out << "],\"parameters\":[";
  comma = "";
  for (const Parameter &p : taken->parameters) {
    out << comma << "{\"offset\":" << p.offset << ",\"bytes\":\""
        << hex(taken->data.data() + p.offset, p.size) << "\",\"pointers\":[";
    const char *inner = "";
    for (const auto &one : taken->pointers)
      if (one.first >= p.offset && one.first < p.offset + p.size) {
        out << inner << "[" << one.first - p.offset << "," << numbers[one.second] << ","
            << word(taken->data, one.first) - one.second << "]";
        inner = ",";
      }
    out << "]}";
    comma = ",";
  }
  out << "]}";
  if (!line(out.str())) note(kernel.symbol, "it could not be written down: no room, or no folder");
  summarize();
}

}  // namespace

Taken *before(const Launch &launch) {
  try {
    return taken(launch);
  } catch (const std::bad_alloc &) {
    return nullptr;  // the program goes on as it does without us
  }
}

void after(Taken *raw, Result result) {
  if (!raw) return;
  std::unique_ptr<Taken> taken(raw);
  std::unique_lock<std::recursive_mutex> hold(state().mutex, std::adopt_lock);
  try {
    written(raw, result);
  } catch (const std::bad_alloc &) {
    return;
  }
}
