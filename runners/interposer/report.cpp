// The report file: JSON, read by runners/program_report.py, which trusts none of it.
#include <unistd.h>

#include <cinttypes>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "state.h"

namespace {

const char *nameOf(Memory kind) {
  switch (kind) {
    case Memory::Device: return "device";
    case Memory::Managed: return "managed";
    case Memory::Pinned: return "pinned";
    case Memory::Registered: return "registered";
    default: return "global";
  }
}

void text(FILE *out, const std::string &value) {
  fputc('"', out);
  for (const char c : value) {
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F)
      fprintf(out, "\\u%04x", static_cast<unsigned char>(c));
    else
      fputc(c, out);
  }
  fputc('"', out);
}

const char *comma(bool &first) {
  const char *mark = first ? "" : ",";
  first = false;
  return mark;
}

template <class Strings>
void texts(FILE *out, const Strings &values) {
  bool first = true;
  fputc('[', out);
  for (const auto &value : values) {
    fputs(comma(first), out);
    text(out, value);
  }
  fputc(']', out);
}

void writeKernel(FILE *out, const Kernel &k) {
  fputs("{\"symbol\":", out);
  text(out, k.symbol);
  fputs(",\"name\":", out);
  text(out, k.plain);
  fprintf(out, ",\"count\":%" PRIu64 ",\"timed\":%" PRIu64 ",\"total_us\":%.3f,\"first_us\":%.3f",
          k.count, k.timed, k.total, k.first);
  fputs(",\"geometry\":[", out);
  bool first = true;
  int written = 0;
  for (const auto &g : k.geometry) {
    if (++written > 16) break;
    fprintf(out, "%s{\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%zu,\"count\":%" PRIu64
            ",\"total_us\":%.3f}", comma(first), g.first.grid.x, g.first.grid.y, g.first.grid.z,
            g.first.block.x, g.first.block.y, g.first.block.z, g.first.shared, g.second.count,
            g.second.microseconds);
  }
  fputs("],\"replays\":[", out);
  first = true;
  for (const Replay &r : k.replays) {
    fprintf(out, "%s{\"ordinal\":%" PRIu64 ",\"in_situ_us\":%.3f,\"samples_us\":[", comma(first),
            r.ordinal, r.inSitu);
    bool start = true;
    for (const double us : r.samples) fprintf(out, "%s%.3f", comma(start), us);
    fputs("]}", out);
  }
  fputs("]}", out);
}

}  // namespace

void failed(const char *api, Error code) {
  State &s = state();
  if (code == kSuccess || code == kNotReady || s.done) return;
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  if (s.failures.size() >= 64) return;
  s.failures.push_back({api, s.lastKernel, code});
  // Illegal address, launch failure and their kin leave the context unusable.
  if (code >= 700 && code < 800 && code != 701 && code != 704 && code != 708 && code != 712 &&
      code != 713 && code != 720)
    s.broken = true;
}

void writeReport(const char *how) {
  State &s = state();
  FILE *out = fopen((s.config.report + ".part").c_str(), "wb");
  if (out == nullptr) return;
  const double wall = std::chrono::duration<double, std::micro>(
                          std::chrono::steady_clock::now() - s.begun).count();
  fprintf(out, "{\"version\":1,\"ended\":\"%s\",\"broken\":%s,\"wall_us\":%.1f", how,
          s.broken ? "true" : "false", wall);
  fprintf(out, ",\"launches\":%" PRIu64 ",\"copies\":%" PRIu64 ",\"unrecorded\":%" PRIu64
          ",\"peak_bytes\":%" PRIu64 ",\"inputs\":%" PRIu64 ",\"input_hash\":\"%016" PRIx64
          "\",\"refused\":%" PRIu64,
          s.launches.load(), s.copies.load(), s.unrecorded, s.peakBytes, s.inputs, s.inputHash, s.refused);
  fprintf(out, ",\"replays\":%" PRIu64 ",\"replay_ms\":%.3f,\"replay_off\":", s.replays,
          s.replaySpent);
  text(out, s.replayOff);
  fputs(",\"notes\":", out);
  texts(out, s.notes);
  fputs(",\"guards\":", out);
  texts(out, s.guards);
  fputs(",\"failures\":[", out);
  bool first = true;
  for (const Failure &f : s.failures) {
    fprintf(out, "%s{\"api\":", comma(first));
    text(out, f.api);
    fprintf(out, ",\"code\":%d,\"name\":", f.code);
    text(out, runtime().errorName ? runtime().errorName(f.code) : "");
    fputs(",\"kernel\":", out);
    text(out, f.kernel);
    fputs("}", out);
  }
  fputs("],\"kernels\":[", out);
  first = true;
  for (const auto &entry : s.bySymbol) {
    if (entry.second.count == 0) continue;
    fputs(comma(first), out);
    writeKernel(out, entry.second);
  }
  fputs("],\"other\":{", out);
  first = true;
  for (const auto &entry : s.other) {
    fputs(comma(first), out);
    text(out, entry.first);
    fprintf(out, ":{\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"us\":%.3f}", entry.second.count,
            entry.second.bytes, entry.second.microseconds);
  }
  fputs("},\"allocations\":[", out);
  first = true;
  size_t listed = 0;
  for (const Described &d : s.described) {
    if (++listed > 20000) break;
    fprintf(out, "%s{\"bytes\":%zu,\"kind\":\"%s\",\"types\":", comma(first), d.bytes,
            nameOf(d.kind));
    texts(out, d.types);
    fputs("}", out);
  }
  fputs("],\"records\":[", out);
  first = true;
  for (const Record &r : s.records)
    fprintf(out, "%s{\"kind\":\"%s\",\"allocation\":%" PRId64 ",\"offset\":%" PRIu64
            ",\"bytes\":%" PRIu64 ",\"hash\":\"%016" PRIx64 "\",\"at\":%" PRId64 ",\"length\":%"
            PRIu64 ",\"sampled\":%s}", comma(first), r.kind, r.allocation, r.offset, r.bytes,
            r.hash, r.at, r.length, r.sampled ? "true" : "false");
  fputs("]}\n", out);
  if (s.data) fflush(s.data);
  const bool whole = fclose(out) == 0;
  if (whole) rename((s.config.report + ".part").c_str(), s.config.report.c_str());
}

void finish(const char *how) {
  State &s = state();
  if (!s.active || s.done) return;
  std::lock_guard<std::recursive_mutex> hold(s.mutex);
  if (s.done) return;
  if (s.launches || !s.live.empty()) {
    const Error error = s.broken ? kSuccess : runtime().deviceSynchronize();
    failed("at exit", error);
    if (error != kSuccess) s.broken = true;
    drain(nullptr, true);
    recordLive("exit");
  }
  s.done = true;
  writeReport(how);
}

namespace {

std::atomic<int> inside{0};
std::atomic<int64_t> left{0};  // when, in steady nanoseconds

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

// A program that has its results and goes on without the GPU: it compares them with its own for a
// minute. What it held is kept as at any other end.
void endWhenIdle() {
  State &s = state();
  const pid_t owner = getpid();
  for (; !s.done; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    if (inside.load() > 0 || getpid() != owner) continue;
    const double idle = 1e-9 * static_cast<double>(now() - left.load());
    const Config &c = s.config;
    const bool all = c.cutLaunches && s.launches >= c.cutLaunches && s.copies >= c.cutCopies;
    const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - s.begun;
    if (idle < (all ? c.settledSeconds : c.idleSeconds)) continue;
    if (!all && lasted.count() < c.idleAfter) continue;
    std::lock_guard<std::recursive_mutex> hold(s.mutex);
    if (s.done || inside.load() > 0) continue;
    finish("idle");
    fflush(stdout);
    _exit(0);
  }
}

}  // namespace

Inside::Inside() { ++inside; }

Inside::~Inside() {
  left = now();
  --inside;
}

void watchIdle() {
  static std::once_flag once;
  if (state().config.idleSeconds > 0)
    std::call_once(once, [] { std::thread(endWhenIdle).detach(); });
}

void begun() {
  // What is killed before this never ran on the GPU: the host had not come so far with it.
  if (FILE *mark = fopen((state().config.report + ".begun").c_str(), "wb")) fclose(mark);
}

void stopEarly() {
  // Everything to be timed has been: the program's host work after it is not waited for.
  State &s = state();
  if (s.config.stopLaunches == 0 || s.launches < s.config.stopLaunches) return;
  if (s.copies < s.config.stopCopies) return;
  finish("stop");
  _exit(0);
}
