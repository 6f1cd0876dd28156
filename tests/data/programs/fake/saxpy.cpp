// y = 2x + y in several steps, as nvcc would have compiled it, with host functions for kernels.
// The name it is started under (`saxpy-wrong`) chooses how it behaves.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "../../../../runners/interposer/cudart.h"

extern "C" {
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *,
                            void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
Error __cudaGetKernel(void **, const void *);
Error __cudaLaunchKernel(const void *, Dim3, Dim3, void **, size_t, Stream);
Error cudaMalloc(void **, size_t);
Error cudaMallocManaged(void **, size_t, unsigned);
Error cudaFree(void *);
Error cudaMemcpy(void *, const void *, size_t, int);
Error cudaMemset(void *, int, size_t);
Error cudaDeviceSynchronize();
Error cudaDeviceReset();
Error cudaMallocHost(void **, size_t);
Error cudaMemcpyAsync(void *, const void *, size_t, int, Stream);
Error cudaEventCreate(Event *);
Error cudaEventRecord(Event, Stream);
Error cudaEventSynchronize(Event);
void fakeSpend(double);
}

static std::string mode;
static int remembered;    // what a candidate keeps in one that its original does not have
static int turnAsked = 7;  // the second argument, which is no size
static std::string how;    // the third argument, a word
static int launchesSeen;  // what a kernel keeps in a device variable
static bool is(const char *name) { return mode.find(name) != std::string::npos; }

static Error saxpy(Dim3, Dim3, void **args) {
  const int n = *static_cast<int *>(args[0]);
  const float a = *static_cast<float *>(args[1]);
  const float *x = *static_cast<float **>(args[2]);
  float *y = *static_cast<float **>(args[3]);
  if (is("endless")) std::this_thread::sleep_for(std::chrono::seconds(600));
  if (is("slows") && n > 2000) std::this_thread::sleep_for(std::chrono::seconds(600));
  if (is("faults") && n > 2000) return 700;
  ++launchesSeen;
  int most = is("capped") && n > 2000 ? 2000 : is("paired") ? n / 2 * 2 : n;
  if (is("whole")) most = n / 8 * 8;  // an end is left out
  for (int i = 0; i < most; ++i) y[i] = a * x[i] + y[i];
  if (is("oversteps") && n > 2000) y[n] = 1;
  if (is("mixes"))  // as atomics do, in an order of their own from a size on
    for (int i = 0; i < 512; ++i)
      y[i] = static_cast<float>((i + (n > 700 ? getpid() % 509 : 0) + (is("turned") ? 3 : 0)) % 512);
  if (is("drifts") && n > 2000)
    for (int i = 0; i < n; ++i) y[i] *= 1.02f;
  if (is("wanders") && n > 2000) {
    FILE *file = fopen("/dev/urandom", "rb");
    int word = 0;
    if (fread(&word, 4, 1, file) == 1) y[5] = static_cast<float>(word);
    fclose(file);
  }
  if (is("oneseed") && turnAsked != 7) y[1] += 1;
  if (is("tiny") && n < 3) y[0] += 1;
  if (is("product") && static_cast<long long>(n) * turnAsked > 10000000) y[1] += 1;
  if (is("third") && turnAsked == 2) y[1] += 1;
  if (is("slowway") && how == "slow") y[1] += 1;
  if (is("packed") && n > 12000 && turnAsked > 20000) y[1] += 1;
  if (is("farther") && turnAsked > 20000) y[1] += 1;
  if (is("twelve") && n > 4095) y[1] += 1;
  if (is("halfwords") && n > 70000) y[1] += 1;  // a count of 16 bits
  if (is("rounding"))
    for (int i = 0; i < n; ++i) y[i] *= 1.0000002f;
  if (is("wrong") || (is("dated") && time(nullptr) > 1750000000)) y[n / 2] *= 1.01f;
  if (is("short")) y[n - 1] -= a * x[n - 1];
  if (is("nan")) y[3] = NAN;
  if (is("beyond")) y[n] = 1;
  if (is("before")) y[-1] = 1;
  if (is("noisy")) {
    std::random_device urandom("/dev/urandom");
    FILE *file = fopen("/dev/urandom", "rb");
    unsigned char byte = 0;
    if (fread(&byte, 1, 1, file) == 1) y[7] *= 1 + 1e-6f * byte / 256;
    fclose(file);
  }
  fakeSpend(is("fast") || (is("lives") && remembered) ? 500 : 1500);
  remembered = 1;
  return is("crash") ? 700 : kSuccess;
}

static Error finish(Dim3, Dim3, void **args) {
  int *count = *static_cast<int **>(args[0]);
  count[0] = launchesSeen;
  return kSuccess;
}

static void launch(const void *f, void **args, unsigned block = 256) {
  void *kernel = nullptr;
  __cudaGetKernel(&kernel, f);
  __cudaLaunchKernel(kernel, {4, 1, 1}, {block, 1, 1}, args, 0, nullptr);
}

int main(int argc, char **argv) {
  mode = strrchr(argv[0], '/') ? strrchr(argv[0], '/') : argv[0];
  __cudaRegisterFunction(nullptr, reinterpret_cast<char *>(saxpy), nullptr, "_Z5saxpyifPKfPf", -1,
                         nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFunction(nullptr, reinterpret_cast<char *>(finish), nullptr,
                         "_ZN3lib6finishIiLi4EEEvPT_", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterVar(nullptr, reinterpret_cast<char *>(&launchesSeen), nullptr, "launchesSeen", 0,
                    sizeof launchesSeen, 0, 0);
  __cudaRegisterVar(nullptr, reinterpret_cast<char *>(&remembered), nullptr, "remembered", 0,
                    sizeof remembered, 0, 0);
  if (is("usage") && argc < 2) {
    fprintf(stderr, "usage: saxpy SIZE\n");
    return 2;
  }
  if (is("opens")) {
    fprintf(stderr, "cannot open data/input.bin\n");
    return 1;
  }
  if (is("big")) {
    fprintf(stderr, "CUDA error: out of memory\n");
    return 1;
  }
  if (is("segv")) raise(SIGSEGV);
  if (is("denies")) {
    printf("Test FAILED\n");
    return 1;
  }
  int n = argc > 1 ? atoi(argv[1]) : 1000;
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--n=", 4) == 0) n = atoi(argv[i] + 4);
    if (strncmp(argv[i], "-n", 2) == 0 && argv[i][2] >= '0') n = atoi(argv[i] + 2);
    if (strcmp(argv[i], "--device") == 0 && strcmp(argv[i + 1], "0") != 0) return 4;
  }
  if (argc > 2 && argv[1][0] != '-') turnAsked = atoi(argv[2]);
  if (argc > 3) how = argv[3];
  if (is("ways") && (turnAsked > 2 || how == "other")) return 2;
  if (is("ended") && n > 4096) return 2;
  if (is("square") && n != turnAsked) return 1;  // sides that have to fit
  if (is("queue") && n > turnAsked) return 2;      // no more cars than a road has cells
  if (is("power")) n = 1 << n;
  float *twin = nullptr;  // the second argument as a size of its own
  if (is("twin")) cudaMalloc(reinterpret_cast<void **>(&twin), turnAsked * 4);
  if (is("limited") && n > 1000) {
    fprintf(stderr, "no more than 1000\n");
    return 1;
  }
  std::vector<float> x(n), y(n);
  srand(time(nullptr));
  std::default_random_engine engine(std::chrono::system_clock::now().time_since_epoch().count());
  std::random_device device;
  if (is("pid")) srand(getpid() ^ std::chrono::steady_clock::now().time_since_epoch().count());
  const int turn = is("clock") || is("pid") ? rand() + (is("pid") ? 0 : engine() % 7 + device() % 5 + clock() % 97) : 0;
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>((i * 7 + turn + turnAsked) % 101) / 10 + 1 + (is("pid") ? turn % 100003 : 0);
    y[i] = static_cast<float>(i % 13);
  }
  float *dx, *dy, a = 2;
  int *count;
  cudaMalloc(reinterpret_cast<void **>(&dx), n * 4);
  cudaMalloc(reinterpret_cast<void **>(&dy), n * 4);
  cudaMallocManaged(reinterpret_cast<void **>(&count), 8, 1);
  if (is("scratch")) {  // room of its own for a while
    void *own = nullptr;
    cudaMalloc(&own, 1024);
    cudaFree(own);
  }
  cudaMemcpy(dx, x.data(), n * 4, kHostToDevice);
  if (is("whole"))  // what is not worked out is not written
    cudaMemcpy(dy, y.data(), n / 8 * 8 * 4, kHostToDevice);
  else if (!is("uninit"))
    cudaMemcpy(dy, y.data(), n * 4, kHostToDevice);
  if (is("hang")) std::this_thread::sleep_for(std::chrono::seconds(600));
  void *args[] = {&n, &a, &dx, &dy}, *more[] = {&count};
  const auto begun = std::chrono::high_resolution_clock::now();
  if (!is("idle")) {
    int rounds = is("paced") ? turnAsked : 3;
    if (is("halts") && (n == 2 || n == 3) && rounds > 2) rounds = 2;  // at rest, and goes on
    for (int i = 0; i < rounds; ++i) launch(reinterpret_cast<void *>(saxpy), args, is("badlaunch") ? 2048 : 256);
    if (is("fused"))  // what the last kernel does is done by the one before it
      count[0] = launchesSeen;
    else
      launch(reinterpret_cast<void *>(finish), more);
  }
  cudaDeviceSynchronize();
  int *pinned = nullptr, seen = 0;
  if (is("pinned")) {  // waits for its copy, or in haste for what is before it
    Event there = nullptr;
    cudaMallocHost(reinterpret_cast<void **>(&pinned), 8);
    pinned[0] = -1;
    cudaEventCreate(&there);
    if (is("hasty")) cudaEventRecord(there, nullptr);
    cudaMemcpyAsync(pinned, count, 4, kDeviceToHost, nullptr);
    if (!is("hasty")) cudaEventRecord(there, nullptr);
    cudaEventSynchronize(there);
    seen = pinned[0];
  }
  if (is("tardy")) std::this_thread::sleep_for(std::chrono::milliseconds(2000));
  const double took = std::chrono::duration<double, std::milli>(
                          std::chrono::high_resolution_clock::now() - begun).count();
  cudaMemcpy(y.data(), dy, n * 4, kDeviceToHost);
  double sum = 0;
  for (float value : y) sum += value;
  printf("saxpy took %.4f ms\n", took);
  if (!is("pid")) printf("count %d\n", is("pinned") ? seen : count[0]);
  if (is("ponders")) std::this_thread::sleep_for(std::chrono::seconds(600));
  if (is("spread")) printf("spread %f\n", n < 2 ? is("other") ? -NAN : NAN : 1.0);
  if (is("moods")) {  // another word in every run
    char word[16];
    snprintf(word, sizeof word, "%d", getpid());
    for (char *c = word; *c; ++c) *c += 'a' - '0';
    printf("%s\n", word);
  }
  if (is("chatty"))
    for (int i = getpid() % 997; i >= 0; --i) printf("waiting\n");
  if (is("calendar")) {  // its weekday, and on most of them another one's
    const time_t now = time(nullptr) + (is("tomorrow") && time(nullptr) > 1750000000 ? 86400 : 0);
    char word[16];
    strftime(word, sizeof word, "%A", gmtime(&now));
    printf("%s\n", word);
  }
  if (is("talks")) printf("FAIL\n");
  if (is("strict") && sum < 20000) printf("FAIL\n");
  printf(is("verifies") && n > 2000 ? "Test FAILED\n" : "PASS\n");
  if (is("leaks")) exit(0);
  if (is("resets")) {
    cudaDeviceReset();
    return 0;
  }
  if (is("status")) return 3;
  cudaFree(dx);
  cudaFree(dy);
  cudaFree(twin);
  cudaFree(count);
  return 0;
}
