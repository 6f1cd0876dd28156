// What one run of a program leaves behind: allocations, copies, launches and their times.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cudart.h"

enum class Poison { None, Zero, Nan, Random };

// Which launches of a kernel are repeated: number `first`, then each `every`-th, `limit` at most.
struct Plan {
  uint64_t first = 0, every = 1, limit = 0, repeats = 0;
};

// Read from the file that OPTIML_PROBE names: one `key value...` a line.
struct Config {
  std::string report;
  Poison poison = Poison::None;
  uint64_t seed = 1;
  bool record = false, fixClock = true;
  int64_t wall = 1700000000;  // where the program's wall clock begins
  std::vector<uint64_t> expected;
  uint64_t maxStored = 512ull << 20, maxReadback = 2ull << 30;
  uint64_t stopLaunches = 0, stopCopies = 0;
  // After so many seconds without a call of the runtime a run ends, if it has lasted so long;
  // sooner behind so many launches and copies. 0 for never.
  double idleSeconds = 0, settledSeconds = 0, idleAfter = 0;
  uint64_t cutLaunches = 0, cutCopies = 0;
  double replayMilliseconds = 300;
  uint64_t lateMilliseconds = 0;  // held back so long: each asynchronous copy of pinned memory
  std::map<std::string, Plan> plans;
  std::set<std::string> fresh;  // device variables to be as they were loaded before every launch
};

enum class Memory { Device, Managed, Pinned, Registered, Global };

struct Allocation {
  uint32_t id = 0;
  Memory kind = Memory::Device;
  char *base = nullptr;  // what the runtime gave
  char *user = nullptr;  // what the program holds
  size_t bytes = 0, front = 0, rear = 0;
};

struct Described {
  size_t bytes = 0;
  Memory kind = Memory::Device;
  std::set<std::string> types;
};

struct Record {
  const char *kind;
  int64_t allocation;
  uint64_t offset, bytes, hash;
  int64_t at = -1;  // where its bytes are in the data file
  uint64_t length = 0;
  bool sampled = false;
};

struct Total {
  uint64_t count = 0, bytes = 0;
  double microseconds = 0;
};

struct Geometry {
  Dim3 grid, block;
  size_t shared;
  bool operator<(const Geometry &o) const {
    const uint64_t a[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z, shared};
    const uint64_t b[] = {o.grid.x, o.grid.y, o.grid.z, o.block.x, o.block.y, o.block.z, o.shared};
    for (int i = 0; i < 7; ++i)
      if (a[i] != b[i]) return a[i] < b[i];
    return false;
  }
};

struct Replay {
  uint64_t ordinal;
  double inSitu;
  std::vector<double> samples;
};

struct Kernel {
  std::string symbol, plain;
  std::vector<std::string> parameters;
  uint64_t count = 0, timed = 0, sampled = 0;
  double total = 0, first = 0;
  std::map<Geometry, Total> geometry;
  std::vector<Replay> replays;
};

struct Failure {
  std::string api, kernel;
  Error code;
};

struct Pending {
  int device;
  Stream stream;
  Event start, stop;
  Kernel *kernel;  // null for a copy or memset
  Total *total, *shape;
};

// A device variable that is put back before every launch.
struct Fresh {
  const void *host;
  size_t bytes;
  bool tried = false;
  void *at = nullptr, *kept = nullptr;
};

struct State {
  Config config;
  std::recursive_mutex mutex;
  // Read without the mutex by whoever is about to take it, and by who looks for an idle program.
  std::atomic<bool> active{false}, done{false}, broken{false}, capturing{false};
  std::atomic<uint64_t> launches{0}, copies{0};
  uint64_t readback = 0, stored = 0, inputs = 0, inputHash = 0;
  uint64_t unrecorded = 0, liveBytes = 0, peakBytes = 0, replays = 0, refused = 0;
  double replaySpent = 0;
  uint64_t heldIn = 0, heldOut = 0;  // milliseconds that copies were held back
  std::string replayOff, lastKernel;
  std::map<uintptr_t, Allocation> live;
  std::vector<Described> described;
  std::vector<Record> records;
  std::vector<std::string> guards;
  std::vector<Failure> failures;
  std::set<std::string> notes;
  std::unordered_map<const void *, Kernel *> kernels;
  std::unordered_map<const void *, const void *> handles;
  std::map<std::string, Kernel> bySymbol;
  std::map<std::string, Total> other;
  std::vector<Pending> pending;
  std::map<int, std::vector<std::pair<Event, Event>>> idle;
  std::vector<std::pair<const void *, size_t>> globals;
  std::vector<Fresh> fresh;
  FILE *data = nullptr;
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
};

// The functions of the runtime that the interposer calls itself.
struct Runtime {
  Error (*malloc)(void **, size_t);
  Error (*free)(void *);
  Error (*memcpy)(void *, const void *, size_t, int);
  Error (*memcpyAsync)(void *, const void *, size_t, int, Stream);
  Error (*memset)(void *, int, size_t);
  Error (*memsetAsync)(void *, int, size_t, Stream);
  Error (*eventCreate)(Event *);
  Error (*eventRecord)(Event, Stream);
  Error (*eventSynchronize)(Event);
  Error (*eventElapsed)(float *, Event, Event);
  Error (*deviceSynchronize)();
  Error (*streamSynchronize)(Stream);
  Error (*streamIsCapturing)(Stream, int *);
  Error (*launchHostFunc)(Stream, void (*)(void *), void *);
  Error (*getDevice)(int *);
  Error (*memGetInfo)(size_t *, size_t *);
  Error (*getLastError)();
  Error (*getSymbolAddress)(void **, const void *);
  const char *(*errorName)(Error);
};

State &state();
const Runtime &runtime();
void *next(const char *name);

// memory.cpp
void configure();
uint64_t digest(const void *data, size_t bytes);
void adopt(Memory kind, char *base, char *user, size_t bytes, size_t front, size_t rear,
           Stream stream, bool ordered);
Allocation *find(const void *pointer);
void release(const void *user, const char *why);
void forget(const void *user);
void record(const char *kind, const void *source, const void *bytes, size_t length);
void recordInput(const void *bytes, size_t length);
void recordLive(const char *why);

// timing.cpp
struct Timer {
  // Times what is put on a stream between its construction and `stop()`, if events are to be had.
  Timer(Stream stream, Kernel *kernel, Total *total, Total *shape);
  void stop();
  Pending pending{};
  bool running = false;
};
Kernel &kernelOf(const void *function);
void drain(Stream stream, bool all);
bool takeEvents(std::pair<Event, Event> &events);
void giveEvents(const std::pair<Event, Event> &events);
bool inCapture(Stream stream);
void registerKernel(const void *function, const char *symbol);

void renew(Stream stream);
bool snapshot(Stream stream);
bool restore(Stream stream);
void dropSnapshot();
struct Gate {
  std::atomic<bool> open{false};
};
void closeGate(Stream stream, Gate *gate);
const Plan *planFor(const Kernel &kernel, uint64_t ordinal);

// report.cpp
// Notes that the program is in the runtime, and when it left it.
struct Inside {
  Inside();
  ~Inside();
};
void watchIdle();
void begun();
void failed(const char *api, Error code);
void finish(const char *how);
void writeReport(const char *how);
void stopEarly();
