// Cars on ring roads, one ring a lane. A cell holds the speed of its car (0..5) or -1. In every step each car speeds
// up by one (at most 5), brakes to the gap in front of it, dawdles by one with probability DAWDLE / 1000, and drives.
//     tollgate LANES CELLS STEPS SEED DAWDLE
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                             \
    do {                                                                        \
        cudaError_t e_ = (call);                                                \
        if (e_ != cudaSuccess) {                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));         \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

constexpr int THREADS = 256;
constexpr int FASTEST = 5;

__host__ __device__ inline unsigned scramble(unsigned a, unsigned b, unsigned c)
{
    unsigned h = a * 0x9e3779b1u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu ^ (c + 0x165667b1u) * 0xc2b2ae35u;
    h = (h ^ h >> 16) * 0x7feb352du;
    h = (h ^ h >> 15) * 0x846ca68bu;
    return h ^ h >> 16;
}

// New speed of every car; cells without a car get -1.
__global__ void plan(const signed char* road, signed char* speed, int lanes, int cells, unsigned s, unsigned seed, unsigned dawdle)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= lanes * cells)
        return;
    int x = i % cells;
    const signed char* lane = road + (i - x);
    int v = lane[x];
    if (v >= 0) {
        v = v < FASTEST ? v + 1 : FASTEST;
        for (int d = 1; d <= v; d++)
            if (lane[(x + d) % cells] >= 0) {
                v = d - 1;
                break;
            }
        if (v > 0 && scramble(i, s, seed) % 1000 < dawdle)
            v--;
    }
    speed[i] = v;
}

// Cars take their new cells; `next` is empty before. flow[s] is the sum of the speeds.
__global__ void drive(const signed char* speed, signed char* next, unsigned* flow, int lanes, int cells, int s)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int v = i < lanes * cells ? speed[i] : -1;
    if (v >= 0) {
        int x = i % cells;
        next[i - x + (x + v) % cells] = v;
    }
    unsigned sum = __reduce_add_sync(~0u, v > 0 ? v : 0);
    if (threadIdx.x % 32 == 0 && sum)
        atomicAdd(&flow[s], sum);
}

// A block takes one lane through all steps in shared memory: two roads and the new speeds.
__global__ void laps(signed char* road, unsigned* flow, int cells, int steps, unsigned seed, unsigned dawdle)
{
    extern __shared__ signed char room[];
    signed char *now = room, *then = room + cells, *speed = room + 2 * cells;
    signed char* mine = road + (size_t)blockIdx.x * cells;
    for (int x = threadIdx.x; x < cells; x += THREADS)
        now[x] = mine[x];
    __syncthreads();
    for (int s = 0; s < steps; s++) {
        unsigned sum = 0;
        for (int x = threadIdx.x; x < cells; x += THREADS) {
            int v = now[x];
            if (v >= 0) {
                v = v < FASTEST ? v + 1 : FASTEST;
                for (int d = 1; d <= v; d++)
                    if (now[(x + d) % cells] >= 0) {
                        v = d - 1;
                        break;
                    }
                if (v > 0 && scramble(blockIdx.x * cells + x, s, seed) % 1000 < dawdle)
                    v--;
                sum += v;
            }
            speed[x] = v;
            then[x] = -1;
        }
        __syncthreads();
        for (int x = threadIdx.x; x < cells; x += THREADS)
            if (speed[x] >= 0)
                then[(x + speed[x]) % cells] = speed[x];
        sum = __reduce_add_sync(~0u, sum);
        if (threadIdx.x % 32 == 0 && sum)
            atomicAdd(&flow[s], sum);
        signed char* swap = now;
        now = then;
        then = swap;
    }
    __syncthreads();
    for (int x = threadIdx.x; x < cells; x += THREADS)
        mine[x] = now[x];
}

int main(int argc, char** argv)
{
    int lanes = argc > 1 ? atoi(argv[1]) : 16;
    int cells = argc > 2 ? atoi(argv[2]) : 1000;
    int steps = argc > 3 ? atoi(argv[3]) : 50;
    unsigned seed = argc > 4 ? (unsigned)atoi(argv[4]) : 1;
    unsigned dawdle = argc > 5 ? (unsigned)atoi(argv[5]) : 200;
    if (lanes < 1 || cells < 1 || steps < 1 || (long long)lanes * cells > 1000000000ll) {
        fprintf(stderr, "usage: tollgate LANES CELLS STEPS SEED DAWDLE\n");
        return 2;
    }
    int size = lanes * cells;
    std::vector<signed char> cars(size);
    for (int i = 0; i < size; i++) {
        unsigned h = scramble(i, 0xfeedu, seed);
        cars[i] = h % 10 < 3 ? (signed char)(h / 16 % (FASTEST + 1)) : -1;
    }

    signed char *road, *next, *speed;
    unsigned* flow;
    CHECK(cudaMalloc(&road, size));
    CHECK(cudaMalloc(&next, size));
    CHECK(cudaMalloc(&speed, size));
    CHECK(cudaMalloc(&flow, steps * sizeof(unsigned)));
    CHECK(cudaMemcpy(road, cars.data(), size, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(flow, 0, steps * sizeof(unsigned)));

    int blocks = (size + THREADS - 1) / THREADS;
    if (cells <= 16000) {
        laps<<<lanes, THREADS, 3 * cells>>>(road, flow, cells, steps, seed, dawdle);
    } else {
        for (int s = 0; s < steps; s++) {
            CHECK(cudaMemsetAsync(next, 0xff, size));
            plan<<<blocks, THREADS>>>(road, speed, lanes, cells, s, seed, dawdle);
            drive<<<blocks, THREADS>>>(speed, next, flow, lanes, cells, s);
            std::swap(road, next);
        }
    }
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());

    std::vector<unsigned> flows(steps);
    CHECK(cudaMemcpy(cars.data(), road, size, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(flows.data(), flow, steps * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(road));
    CHECK(cudaFree(next));
    CHECK(cudaFree(speed));
    CHECK(cudaFree(flow));

    unsigned long long all = 0, mix = 0;
    for (int s = 0; s < steps; s++)
        all += flows[s];
    for (int i = 0; i < size; i++)
        mix = mix * 1000003ull + (unsigned)(cars[i] + 1);
    printf("%d lanes of %d cells, %d steps: driven %llu, last flow %u, mix %016llx\n", lanes, cells, steps, all, flows[steps - 1], mix);
    return 0;
}
