// Allocations: poison, guard bands, and what they and the copies out of them held.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "state.h"

namespace {

constexpr unsigned char kCanary = 0xC9;
constexpr size_t kPattern = 1 << 20, kWhole = 256ull << 20, kStoreWhole = 256ull << 20;
constexpr size_t kChunk = 64 << 10, kMaxRecords = 20000;

uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

void fillPattern(char *to, size_t bytes, uint64_t seed) {
  // Small-exponent floats would hide in real data and huge ones overflow: plain random words.
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t word = mix(seed + i);
    memcpy(to + i, &word, bytes - i < 8 ? bytes - i : 8);
  }
}

void poisonDevice(char *to, size_t bytes, uint64_t id, Stream stream) {
  const Runtime &cuda = runtime();
  const State &s = state();
  if (bytes == 0 || s.config.poison == Poison::None) return;
  if (s.config.poison != Poison::Random) {
    cuda.memsetAsync(to, s.config.poison == Poison::Nan ? 0xFF : 0, bytes, stream);
    return;
  }
  std::vector<char> words(bytes < kPattern ? bytes : kPattern);
  fillPattern(words.data(), words.size(), mix(s.config.seed) ^ (id << 32));
  cuda.memcpyAsync(to, words.data(), words.size(), kHostToDevice, stream);
  cuda.streamSynchronize(stream);
  for (size_t have = words.size(); have < bytes;) {
    const size_t more = have < bytes - have ? have : bytes - have;
    cuda.memcpyAsync(to + have, to, more, kDeviceToDevice, stream);
    have += more;
  }
}

void poisonHost(char *to, size_t bytes, uint64_t id) {
  const State &s = state();
  if (s.config.poison == Poison::Random)
    fillPattern(to, bytes, mix(s.config.seed) ^ (id << 32));
  else if (s.config.poison != Poison::None)
    memset(to, s.config.poison == Poison::Nan ? 0xFF : 0, bytes);
}

void checkGuard(const Allocation &a, const char *side, const char *at, size_t bytes) {
  std::vector<unsigned char> seen(bytes);
  if (bytes == 0) return;
  if (runtime().memcpy(seen.data(), at, bytes, kDefault) != kSuccess) return;
  for (size_t i = 0; i < bytes; ++i) {
    if (seen[i] == kCanary) continue;
    std::ostringstream text;
    text << side << " " << a.id << " " << a.bytes << " "
         << (side[0] == 'f' ? -static_cast<int64_t>(bytes - i) : static_cast<int64_t>(i));
    state().guards.push_back(text.str());
    return;
  }
}

// Where a sample of something long is taken: both ends, and a place in each stretch between them
// that the run's seed decides, so that no code can know it. Multiples of 16, the last one aside.
std::vector<size_t> places(size_t length, size_t chunks) {
  std::vector<size_t> found;
  const size_t step = (length - kChunk) / (chunks - 1) / 16 * 16;
  for (size_t i = 0; i + 1 < chunks; ++i) {
    const size_t room = i && step > kChunk ? (step - kChunk) / 16 : 0;
    found.push_back(i * step + (room ? mix(state().config.seed ^ (i << 32)) % room * 16 : 0));
  }
  found.push_back(length - kChunk);
  return found;
}

void store(Record &r, const char *bytes, size_t length) {
  State &s = state();
  std::vector<char> some;
  if (length > kStoreWhole) {
    for (const size_t at : places(length, 1024))
      some.insert(some.end(), bytes + at, bytes + at + kChunk);
    bytes = some.data();
    length = some.size();
    r.sampled = true;
  }
  if (s.stored + length > s.config.maxStored) return;
  if (s.data == nullptr) {
    s.data = fopen((s.config.report + ".data").c_str(), "wb");
    if (s.data) setvbuf(s.data, nullptr, _IONBF, 0);  // what is said to be there has to be there
  }
  if (s.data == nullptr || fwrite(bytes, 1, length, s.data) != length) {
    s.config.maxStored = 0;  // a full disk: where later bytes would be is not known
    return;
  }
  r.at = static_cast<int64_t>(s.stored);
  r.length = length;
  s.stored += length;
}

void append(const char *kind, int64_t id, uint64_t offset, uint64_t whole, const char *bytes,
            size_t length) {
  State &s = state();
  if (s.records.size() >= kMaxRecords) {
    ++s.unrecorded;
    return;
  }
  Record r{kind, id, offset, whole, digest(bytes, length)};
  r.sampled = whole != length;
  const size_t number = s.records.size();
  // Equal to what the original held here: nobody needs the bytes.
  if (number >= s.config.expected.size() || s.config.expected[number] != r.hash)
    store(r, bytes, length);
  s.records.push_back(r);
}

void recordFinal(const Allocation &a, const char *why) {
  State &s = state();
  if (!s.config.record || s.broken || a.bytes == 0) return;
  const bool pinned = a.kind == Memory::Pinned || a.kind == Memory::Registered;
  if (a.kind == Memory::Managed || pinned) {
    append(why, a.id, 0, a.bytes, a.user, a.bytes);
    return;
  }
  if (s.readback >= s.config.maxReadback) {
    ++s.unrecorded;
    return;
  }
  std::vector<char> bytes;
  if (a.bytes <= kWhole) {
    bytes.resize(a.bytes);
    if (runtime().memcpy(bytes.data(), a.user, a.bytes, kDeviceToHost) != kSuccess) return;
  } else {
    const std::vector<size_t> at = places(a.bytes, 1024);
    bytes.resize(at.size() * kChunk);
    for (size_t i = 0; i < at.size(); ++i)
      if (runtime().memcpy(bytes.data() + i * kChunk, a.user + at[i], kChunk, kDeviceToHost))
        return;
  }
  s.readback += bytes.size();
  append(why, a.id, 0, a.bytes, bytes.data(), bytes.size());
}

}  // namespace

State &state() {
  static State *only = new State;  // never destroyed: hooks run after static destructors
  return *only;
}

void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

const Runtime &runtime() {
  static const Runtime all = [] {
    Runtime r{};
#define FIND(field, name) r.field = reinterpret_cast<decltype(r.field)>(next(name))
    FIND(malloc, "cudaMalloc");
    FIND(free, "cudaFree");
    FIND(memcpy, "cudaMemcpy");
    FIND(memcpyAsync, "cudaMemcpyAsync");
    FIND(memset, "cudaMemset");
    FIND(memsetAsync, "cudaMemsetAsync");
    FIND(eventCreate, "cudaEventCreate");
    FIND(eventRecord, "cudaEventRecord");
    FIND(eventSynchronize, "cudaEventSynchronize");
    FIND(eventElapsed, "cudaEventElapsedTime");
    FIND(deviceSynchronize, "cudaDeviceSynchronize");
    FIND(streamSynchronize, "cudaStreamSynchronize");
    FIND(streamIsCapturing, "cudaStreamIsCapturing");
    FIND(launchHostFunc, "cudaLaunchHostFunc");
    FIND(getDevice, "cudaGetDevice");
    FIND(memGetInfo, "cudaMemGetInfo");
    FIND(getLastError, "cudaGetLastError");
    FIND(getSymbolAddress, "cudaGetSymbolAddress");
    FIND(errorName, "cudaGetErrorName");
#undef FIND
    return r;
  }();
  return all;
}

void configure() {
  Config &c = state().config;
  const char *path = getenv("OPTIML_PROBE");
  if (path == nullptr) return;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string key, value;
    words >> key;
    if (key == "report") {
      words >> std::ws;
      std::getline(words, c.report);
    } else if (key == "poison") {
      words >> value;
      c.poison = value == "zero"     ? Poison::Zero
                 : value == "nan"    ? Poison::Nan
                 : value == "random" ? Poison::Random
                                     : Poison::None;
    } else if (key == "seed") {
      words >> c.seed;
    } else if (key == "record") {
      words >> c.record;
    } else if (key == "clock") {
      words >> c.fixClock;
    } else if (key == "wall") {
      words >> c.wall;
    } else if (key == "stored") {
      words >> c.maxStored;
    } else if (key == "readback") {
      words >> c.maxReadback;
    } else if (key == "stop") {
      words >> c.stopLaunches >> c.stopCopies;
    } else if (key == "idle") {
      words >> c.idleSeconds >> c.settledSeconds >> c.idleAfter;
    } else if (key == "cut") {
      words >> c.cutLaunches >> c.cutCopies;
    } else if (key == "budget") {
      words >> c.replayMilliseconds;
    } else if (key == "late") {
      words >> c.lateMilliseconds;
    } else if (key == "expect") {
      words >> value;
      c.expected.push_back(strtoull(value.c_str(), nullptr, 16));
    } else if (key == "fresh") {
      words >> value;
      c.fresh.insert(value);
    } else if (key == "replay") {
      Plan p;
      words >> value >> p.first >> p.every >> p.limit >> p.repeats;
      if (p.every == 0) p.every = 1;
      c.plans[value] = p;
    }
  }
  state().active = !c.report.empty();
  // A child of the program must not write over its report.
  unsetenv("OPTIML_PROBE");
  unsetenv("LD_PRELOAD");
}

uint64_t digest(const void *data, size_t bytes) {
  const char *at = static_cast<const char *>(data);
  uint64_t lane[4] = {bytes, mix(bytes), mix(bytes + 1), mix(bytes + 2)};
  size_t i = 0;
  for (; i + 32 <= bytes; i += 32)
    for (int j = 0; j < 4; ++j) {
      uint64_t word;
      memcpy(&word, at + i + 8 * j, 8);
      lane[j] = (lane[j] ^ word) * 0x9FB21C651E98DF25ull;
      lane[j] ^= lane[j] >> 32;
    }
  for (; i < bytes; ++i) lane[i % 4] = mix(lane[i % 4] ^ static_cast<unsigned char>(at[i]));
  return mix(lane[0] ^ mix(lane[1] ^ mix(lane[2] ^ mix(lane[3]))));
}

void adopt(Memory kind, char *base, char *user, size_t bytes, size_t front, size_t rear,
           Stream stream, bool ordered) {
  State &s = state();
  const Runtime &cuda = runtime();
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  Allocation a{static_cast<uint32_t>(s.described.size()), kind, base, user, bytes, front, rear};
  s.described.push_back({bytes, kind, {}});
  s.live[reinterpret_cast<uintptr_t>(user)] = a;
  if (kind == Memory::Pinned || kind == Memory::Registered) return;
  s.liveBytes += bytes;
  if (s.liveBytes > s.peakBytes) s.peakBytes = s.liveBytes;
  if (kind == Memory::Managed) {
    poisonHost(user, bytes, a.id);
    memset(user + bytes, kCanary, rear);
    return;
  }
  if (front) cuda.memsetAsync(user - front, kCanary, front, stream);
  if (rear) cuda.memsetAsync(user + bytes, kCanary, rear, stream);
  poisonDevice(user, bytes, a.id, stream);
  // Other streams need not wait for this one; an ordered allocation belongs to its stream.
  if (ordered)
    cuda.streamSynchronize(stream);
  else
    cuda.deviceSynchronize();
}

Allocation *find(const void *pointer) {
  auto &live = state().live;
  const uintptr_t at = reinterpret_cast<uintptr_t>(pointer);
  auto it = live.upper_bound(at);
  if (it == live.begin()) return nullptr;
  Allocation &a = (--it)->second;
  return at < it->first + (a.bytes ? a.bytes : 1) ? &a : nullptr;
}

void release(const void *user, const char *why) {
  State &s = state();
  auto it = s.live.find(reinterpret_cast<uintptr_t>(user));
  if (it == s.live.end() || s.done) return;
  const Allocation &a = it->second;
  // Pinned memory is an output only where a kernel was given its address.
  const bool pinned = a.kind == Memory::Pinned || a.kind == Memory::Registered;
  if (s.broken || (pinned && s.described[a.id].types.empty())) return;
  if (runtime().deviceSynchronize() != kSuccess) {
    s.broken = true;
    return;
  }
  if (a.front) checkGuard(a, "front", a.user - a.front, a.front);
  if (a.rear) checkGuard(a, "rear", a.user + a.bytes, a.rear);
  recordFinal(a, why);
}

void forget(const void *user) {
  State &s = state();
  auto it = s.live.find(reinterpret_cast<uintptr_t>(user));
  if (it == s.live.end()) return;
  const Memory kind = it->second.kind;
  if (kind != Memory::Pinned && kind != Memory::Registered) s.liveBytes -= it->second.bytes;
  s.live.erase(it);
}

void recordLive(const char *why) {
  // In the order of allocation: addresses differ between runs.
  State &s = state();
  std::map<uint32_t, const void *> order;
  for (const auto &entry : s.live) order[entry.second.id] = entry.second.user;
  for (const auto &entry : order) release(entry.second, why);
}

void record(const char *kind, const void *source, const void *bytes, size_t length) {
  State &s = state();
  if (s.done || !s.active) return;
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  ++s.copies;
  if (s.config.record && length) {
    const Allocation *a = source ? find(source) : nullptr;
    append(kind, a ? static_cast<int64_t>(a->id) : -1,
           a ? static_cast<const char *>(source) - a->user : 0, length,
           static_cast<const char *>(bytes), length);
  }
  stopEarly();
}

void recordInput(const void *bytes, size_t length) {
  State &s = state();
  if (s.done || !s.active || !s.config.record) return;
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  ++s.inputs;
  s.inputHash = mix(s.inputHash ^ digest(bytes, length));
}
