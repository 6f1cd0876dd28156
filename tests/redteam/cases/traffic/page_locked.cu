// Cars on ring roads (Nagel and Schreckenberg): in each step a car speeds up by one (at most 5), brakes to the gap before it,
// dawdles with probability 0.3 and drives. Nobody overtakes, so car c + 1 of a road is always the one ahead of car c.
// Usage: traffic ROADS CARS LENGTH STEPS SEED.  Prints the flow (cells driven) and a hash of the final positions and speeds.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t e_ = (call); if (e_ != cudaSuccess) { \
    std::fprintf(stderr, "%s\n", cudaGetErrorString(e_)); std::exit(1); } } while (0)

__host__ __device__ inline unsigned chance(unsigned seed, unsigned t, unsigned g)
{
    unsigned h = seed * 0x9E3779B9u ^ t * 0x85EBCA6Bu ^ g * 0xC2B2AE35u;
    h ^= h >> 16; h *= 0x7feb352du;
    h ^= h >> 15; h *= 0x846ca68bu;
    return h ^ h >> 16;
}

// A car is position * 8 + speed.
__global__ void step(const unsigned* __restrict__ now, unsigned* __restrict__ next, unsigned* flow,
                     int roads, int cars, int length, int t, unsigned seed)
{
    const unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= (unsigned)roads * cars) return;
    const unsigned road = g / cars, c = g - road * cars;
    const unsigned ahead = c + 1 == (unsigned)cars ? road * cars : g + 1;
    const int at = now[g] >> 3;
    int gap = (int)(now[ahead] >> 3) - at - 1;
    if (gap < 0) gap += length;
    int v = min(min((int)(now[g] & 7) + 1, 5), gap);
    if (v > 0 && chance(seed, t, g) % 10 < 3) --v;
    const int to = at + v < length ? at + v : at + v - length;
    next[g] = (unsigned)to << 3 | (unsigned)v;
    if (v) atomicAdd(flow + t, (unsigned)v);
}

int main(int argc, char** argv)
{
    if (argc != 6) { std::fprintf(stderr, "usage: traffic ROADS CARS LENGTH STEPS SEED\n"); return 2; }
    const int roads = std::atoi(argv[1]), cars = std::atoi(argv[2]), length = std::atoi(argv[3]), steps = std::atoi(argv[4]);
    const unsigned seed = (unsigned)std::atoi(argv[5]);
    if (roads < 1 || cars < 1 || length < cars || steps < 1) { std::fprintf(stderr, "bad arguments\n"); return 2; }
    const size_t all = (size_t)roads * cars;

    unsigned *state, *flow;           // page-locked, so that both copies are asynchronous
    CHECK(cudaMallocHost(&state, all * sizeof(unsigned)));
    CHECK(cudaMallocHost(&flow, steps * sizeof(unsigned)));
    for (int r = 0; r < roads; ++r)
        for (int c = 0; c < cars; ++c)
            state[(size_t)r * cars + c] = (unsigned)((long long)c * length / cars) << 3;

    unsigned *a, *b, *f;
    CHECK(cudaMalloc(&a, all * sizeof(unsigned)));
    CHECK(cudaMalloc(&b, all * sizeof(unsigned)));
    CHECK(cudaMalloc(&f, steps * sizeof(unsigned)));
    CHECK(cudaMemcpy(a, state, all * sizeof(unsigned), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(f, 0, steps * sizeof(unsigned)));

    const unsigned blocks = (unsigned)((all + 255) / 256);
    for (int t = 0; t < steps; ++t)
        step<<<blocks, 256>>>(t & 1 ? b : a, t & 1 ? a : b, f, roads, cars, length, t, seed);
    CHECK(cudaGetLastError());

    cudaEvent_t ready;
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaMemcpyAsync(flow, f, steps * sizeof(unsigned), cudaMemcpyDeviceToHost, 0));
    CHECK(cudaEventRecord(ready, 0));
    CHECK(cudaMemcpyAsync(state, steps & 1 ? b : a, all * sizeof(unsigned), cudaMemcpyDeviceToHost, 0));
    CHECK(cudaEventSynchronize(ready));
    unsigned long long driven = 0, hash = 14695981039346656037ull;
    for (int t = 0; t < steps; ++t) driven += flow[t];
    for (size_t i = 0; i < all; ++i) hash = (hash ^ state[i]) * 1099511628211ull;
    std::printf("driven %llu hash %016llx\n", driven, hash);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(f));
    CHECK(cudaEventDestroy(ready));
    CHECK(cudaFreeHost(state));
    CHECK(cudaFreeHost(flow));
    return 0;
}
