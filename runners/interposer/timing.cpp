// Launches: which kernel, how long, and once more from the same state for a steadier time.
#include <cxxabi.h>

#include <cstdlib>
#include <cstring>

#include "state.h"

namespace {

constexpr size_t kPool = 2048;

std::string demangled(const char *symbol) {
  int status = 0;
  char *text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string found = status == 0 && text ? text : symbol;
  free(text);
  return found;
}

// Walks back from a closing bracket to the one that opens it.
size_t opening(const std::string &text, size_t close, char open, char shut) {
  int depth = 0;
  for (size_t i = close + 1; i-- > 0;) {
    if (text[i] == shut) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return std::string::npos;
}

void split(const std::string &list, std::vector<std::string> &into) {
  int depth = 0;
  std::string word;
  for (char c : list) {
    if (c == '<' || c == '(' || c == '[') ++depth;
    if (c == '>' || c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      into.push_back(word);
      word.clear();
    } else if (c != ' ' || !word.empty()) {
      word += c;
    }
  }
  if (!word.empty()) into.push_back(word);
}

std::vector<std::pair<char *, size_t>> shadows;  // one shadow for each live allocation
std::vector<std::pair<char *, size_t>> originals;
std::vector<Memory> kinds;
char *arena = nullptr;
size_t arenaBytes = 0;

bool onHost(Memory kind) { return kind == Memory::Pinned || kind == Memory::Registered; }

bool reserve(size_t bytes) {
  if (bytes <= arenaBytes) return true;
  const Runtime &cuda = runtime();
  if (arena) cuda.free(arena);
  arena = nullptr;
  arenaBytes = 0;
  size_t available = 0, all = 0;
  if (cuda.memGetInfo(&available, &all) != kSuccess) return false;
  if (available < bytes + bytes / 4 + (512ull << 20)) return false;
  void *got = nullptr;
  if (cuda.malloc(&got, bytes) != kSuccess) {
    cuda.getLastError();
    return false;
  }
  arena = static_cast<char *>(got);
  arenaBytes = bytes;
  return true;
}

void waitAtGate(void *data) {
  const auto *gate = static_cast<Gate *>(data);
  const auto begun = std::chrono::steady_clock::now();
  while (!gate->open.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() - begun > std::chrono::seconds(1)) return;
  }
}

}  // namespace

void registerKernel(const void *function, const char *symbol) {
  State &s = state();
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  Kernel &k = s.bySymbol[symbol];
  s.kernels[function] = &k;
  if (!k.symbol.empty()) return;
  k.symbol = symbol;
  std::string text = demangled(symbol);
  if (!text.empty() && text.back() == ')') {
    const size_t open = opening(text, text.size() - 1, '(', ')');
    if (open != std::string::npos) {
      split(text.substr(open + 1, text.size() - open - 2), k.parameters);
      text.resize(open);
    }
  }
  if (!text.empty() && text.back() == '>') {
    const size_t open = opening(text, text.size() - 1, '<', '>');
    if (open != std::string::npos) text.resize(open);
  }
  const size_t cut = text.find_last_of(": ");
  k.plain = cut == std::string::npos ? text : text.substr(cut + 1);
}

Kernel &kernelOf(const void *function) {
  State &s = state();
  auto handle = s.handles.find(function);
  if (handle != s.handles.end()) function = handle->second;
  auto found = s.kernels.find(function);
  if (found != s.kernels.end()) return *found->second;
  Kernel &k = s.bySymbol["unknown"];
  k.symbol = k.plain = "unknown";
  return k;
}

bool inCapture(Stream stream) {
  int status = 0;
  if (!state().capturing || runtime().streamIsCapturing == nullptr) return false;
  return runtime().streamIsCapturing(stream, &status) != kSuccess || status != 0;
}

bool takeEvents(std::pair<Event, Event> &events) {
  const Runtime &cuda = runtime();
  int device = 0;
  cuda.getDevice(&device);
  auto &idle = state().idle[device];
  if (!idle.empty()) {
    events = idle.back();
    idle.pop_back();
    return true;
  }
  return cuda.eventCreate(&events.first) == kSuccess &&
         cuda.eventCreate(&events.second) == kSuccess;
}

void giveEvents(const std::pair<Event, Event> &events) {
  int device = 0;
  runtime().getDevice(&device);
  state().idle[device].push_back(events);
}

Timer::Timer(Stream stream, Kernel *kernel, Total *total, Total *shape) {
  State &s = state();
  // Where copies are held back nothing is timed: events of ours would be waited for by and by.
  if (!s.active || s.done || s.broken || s.config.lateMilliseconds) return;
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  if (inCapture(stream)) return;
  int device = 0;
  runtime().getDevice(&device);
  if (s.pending.size() >= kPool) drain(stream, true);
  std::pair<Event, Event> events;
  if (!takeEvents(events)) return;
  pending = {device, stream, events.first, events.second, kernel, total, shape};
  running = runtime().eventRecord(pending.start, stream) == kSuccess;
  if (!running) giveEvents(events);
}

void Timer::stop() {
  if (!running) return;
  running = false;
  State &s = state();
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  if (runtime().eventRecord(pending.stop, pending.stream) == kSuccess) s.pending.push_back(pending);
}

void drain(Stream stream, bool all) {
  State &s = state();
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  const Runtime &cuda = runtime();
  std::vector<Pending> later;
  for (const Pending &p : s.pending) {
    if (!all && p.stream != stream) {
      later.push_back(p);
      continue;
    }
    float milliseconds = 0;
    if (!s.broken && (cuda.eventSynchronize(p.stop) != kSuccess ||
                      cuda.eventElapsed(&milliseconds, p.start, p.stop) != kSuccess))
      s.broken = true;
    s.idle[p.device].emplace_back(p.start, p.stop);
    if (s.broken) continue;
    const double us = milliseconds * 1e3;
    if (p.kernel) {
      if (p.kernel->timed++ == 0) p.kernel->first = us;
      p.kernel->total += us;
    }
    if (p.total) p.total->microseconds += us;
    if (p.shape) p.shape->microseconds += us;
  }
  s.pending.swap(later);
}

const Plan *planFor(const Kernel &kernel, uint64_t ordinal) {
  const State &s = state();
  if (!s.replayOff.empty() || s.replaySpent > s.config.replayMilliseconds) return nullptr;
  auto it = s.config.plans.find(kernel.plain);
  if (it == s.config.plans.end()) it = s.config.plans.find("*");
  if (it == s.config.plans.end()) return nullptr;
  const Plan &p = it->second;
  const bool due = ordinal >= p.first && (ordinal - p.first) % p.every == 0;
  return due && kernel.sampled < p.limit && p.repeats ? &p : nullptr;
}

// Puts back what the original does not keep between launches, so that no launch can live on what
// an earlier one has left there. The first launch finds it as it was loaded: that is what is kept.
void renew(Stream stream) {
  const Runtime &cuda = runtime();
  for (Fresh &f : state().fresh) {
    if (f.tried) {
      if (f.at) cuda.memcpyAsync(f.at, f.kept, f.bytes, kDeviceToDevice, stream);
      continue;
    }
    f.tried = true;
    void *at = nullptr;
    if (cuda.getSymbolAddress(&at, f.host) == kSuccess &&
        cuda.malloc(&f.kept, f.bytes) == kSuccess &&
        cuda.memcpyAsync(f.kept, at, f.bytes, kDeviceToDevice, stream) == kSuccess &&
        cuda.streamSynchronize(stream) == kSuccess)
      f.at = at;
    else
      cuda.getLastError();
  }
}

// Copies everything a kernel can write: live allocations, pinned host memory, device globals.
bool snapshot(Stream stream) {
  State &s = state();
  const Runtime &cuda = runtime();
  originals.clear();
  kinds.clear();
  size_t bytes = 0;
  auto add = [&](char *at, size_t size, Memory kind) {
    if (size == 0) return;
    originals.emplace_back(at, size);
    kinds.push_back(kind);
    if (!onHost(kind)) bytes += (size + 511) / 512 * 512;
  };
  for (const auto &entry : s.live) add(entry.second.user, entry.second.bytes, entry.second.kind);
  for (const auto &global : s.globals) {
    void *at = nullptr;
    if (cuda.getSymbolAddress(&at, global.first) != kSuccess) {
      cuda.getLastError();
      s.replayOff = "a device variable has no address";
      return false;
    }
    add(static_cast<char *>(at), global.second, Memory::Global);
  }
  if (!reserve(bytes)) {
    s.replayOff = "not enough device memory for a second copy";
    return false;
  }
  for (const auto &shadow : shadows)
    if (shadow.second) free(shadow.first);
  shadows.clear();
  size_t at = 0;
  Error error = kSuccess;
  for (size_t i = 0; i < originals.size(); ++i) {
    const size_t size = originals[i].second;
    if (onHost(kinds[i])) {
      char *copy = static_cast<char *>(malloc(size));
      if (copy == nullptr) {
        s.replayOff = "not enough host memory for a second copy";
        originals.resize(i);
        return false;
      }
      memcpy(copy, originals[i].first, size);
      shadows.emplace_back(copy, size);
      continue;
    }
    shadows.emplace_back(arena + at, 0);
    at += (size + 511) / 512 * 512;
    error |= cuda.memcpyAsync(shadows.back().first, originals[i].first, size, kDefault, stream);
  }
  return error == kSuccess && cuda.streamSynchronize(stream) == kSuccess;
}

bool restore(Stream stream) {
  Error error = kSuccess;
  for (size_t i = 0; i < originals.size(); ++i) {
    if (onHost(kinds[i]))
      memcpy(originals[i].first, shadows[i].first, originals[i].second);
    else
      error |= runtime().memcpyAsync(originals[i].first, shadows[i].first, originals[i].second,
                                     kDefault, stream);
  }
  return error == kSuccess;
}

void dropSnapshot() {
  if (arena) runtime().free(arena);
  arena = nullptr;
  arenaBytes = 0;
}

void closeGate(Stream stream, Gate *gate) {
  // Holds the stream until the launch and both events are in it, so that the host's latency is
  // not in the time.
  if (runtime().launchHostFunc == nullptr ||
      runtime().launchHostFunc(stream, waitAtGate, gate) != kSuccess)
    runtime().streamSynchronize(stream);
}
