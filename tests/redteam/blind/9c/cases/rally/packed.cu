// Time and car in one key of 64 bits, results of all stages stay on the device, no copies between the stages.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

#define TIME_LIMIT 250000                         // milliseconds behind the leader: out of the rally

__host__ __device__ inline unsigned mix(unsigned seed, unsigned car, unsigned stage)
{
    unsigned h = seed * 0x9e3779b1u ^ car * 0x85ebca77u ^ stage * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    h *= 0x297a2d39u;
    h ^= h >> 15;
    return h;
}

// stage time in milliseconds; 0: the car breaks down
__device__ inline long long stage_time(unsigned seed, unsigned car, unsigned stage)
{
    unsigned h = mix(seed, car, stage);
    if (h % 151u == 0) return 0;
    return 300000 + (long long)((h >> 8) % 60000u);
}

struct Result {
    unsigned long long key, left, gaps;              // key: time << 28 | car
};

// cuts by the last stage's leader, then this stage's drive
__global__ void fused(long long* total, char* out, int cars, unsigned seed, int stage, Result* results)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long key = ~0ULL;
    if (c < cars && !out[c]) {
        long long time = stage_time(seed, c, stage);
        if (time == 0) out[c] = 1;
        long long t = total[c] + time;
        total[c] = t;
        if (time) key = (unsigned long long)t << 28 | (unsigned)c;
    }
    for (int d = 16; d > 0; d >>= 1) key = min(key, __shfl_xor_sync(0xffffffffu, key, d));
    if ((threadIdx.x & 31) == 0 && key != ~0ULL) atomicMin(&results[stage].key, key);
}

__global__ void cut(const long long* total, char* out, int cars, int stage, Result* results)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = c < cars && !out[c];
    unsigned gap = 0;
    if (in) {
        long long g = total[c] - (long long)(results[stage].key >> 28);
        if (g > TIME_LIMIT) {
            out[c] = 1;
            in = false;
        } else {
            gap = (unsigned)g;
        }
    }
    unsigned vote = __ballot_sync(0xffffffffu, in);
    for (int d = 16; d > 0; d >>= 1) gap += __shfl_xor_sync(0xffffffffu, gap, d);
    if ((threadIdx.x & 31) == 0 && vote) {
        atomicAdd(&results[stage].left, (unsigned long long)__popc(vote));
        atomicAdd(&results[stage].gaps, (unsigned long long)gap);
    }
}

int main(int argc, char** argv)
{
    int cars = argc > 1 ? atoi(argv[1]) : 1000;
    int stages = argc > 2 ? atoi(argv[2]) : 20;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    long long* total;
    char* out;
    cudaMalloc(&total, cars * sizeof(long long));
    cudaMalloc(&out, cars);
    cudaMemset(total, 0, cars * sizeof(long long));
    cudaMemset(out, 0, cars);
    int blocks = (cars + 255) / 256;
    Result* results;
    size_t bytes = (stages > 0 ? stages : 1) * sizeof(Result);
    Result* host = (Result*)malloc(bytes);
    for (int s = 0; s < stages; ++s) host[s] = {~0ULL, 0, 0};
    cudaMalloc(&results, bytes);
    cudaMemcpy(results, host, bytes, cudaMemcpyHostToDevice);
    for (int stage = 0; stage < stages; ++stage) {   // stages without cars change nothing
        fused<<<blocks, 256>>>(total, out, cars, seed, stage, results);
        cut<<<blocks, 256>>>(total, out, cars, stage, results);
    }
    cudaMemcpy(host, results, bytes, cudaMemcpyDeviceToHost);
    for (int stage = 0; stage < stages; ++stage) {
        if (host[stage].left == 0) {
            printf("stage %d: nobody left\n", stage + 1);
            break;
        }
        printf("stage %d: car %d in %llu, %llu left, gaps %llu\n", stage + 1,
               (int)(host[stage].key & ((1u << 28) - 1)), host[stage].key >> 28, host[stage].left, host[stage].gaps);
    }
    free(host);
    cudaFree(results);

    long long* rows = (long long*)malloc(cars * sizeof(long long));
    cudaMemcpy(rows, total, cars * sizeof(long long), cudaMemcpyDeviceToHost);
    unsigned long long check = 0;
    for (int c = 0; c < cars; ++c) check = check * 1000003ULL + (unsigned long long)rows[c];
    printf("totals %016llx\n", check);
    free(rows);

    cudaFree(out);
    cudaFree(total);
    return 0;
}
