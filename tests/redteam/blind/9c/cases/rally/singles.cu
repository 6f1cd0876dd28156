// Totals in float (whole milliseconds are exact), half the traffic; block reductions.
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

__global__ void drive(float* total, char* out, int cars, unsigned seed, int stage)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cars || out[c]) return;
    long long time = stage_time(seed, c, stage);
    if (time == 0) out[c] = 1;
    total[c] += (float)time;
}

__global__ void best_time(const float* total, const char* out, int cars, unsigned long long* best)
{
    __shared__ unsigned long long part[8];
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long v = c < cars && !out[c] ? (unsigned long long)total[c] : ~0ULL;
    for (int d = 16; d > 0; d >>= 1) v = min(v, __shfl_xor_sync(0xffffffffu, v, d));
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; ++k) v = min(v, part[k]);
        if (v != ~0ULL) atomicMin(best, v);
    }
}

__global__ void leader_and_cut(const float* total, char* out, int cars, const unsigned long long* best,
                               int* leader, unsigned long long* sums)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = c < cars && !out[c];
    long long gap = in ? (long long)total[c] - (long long)*best : 0;
    if (in && gap == 0) atomicMin(leader, c);
    if (in && gap > TIME_LIMIT) {
        out[c] = 1;
        in = false;
    }
    int left = __syncthreads_count(in);
    unsigned sum = in ? (unsigned)gap : 0u;          // at most 32 * TIME_LIMIT a warp
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if ((threadIdx.x & 31) == 0 && sum) atomicAdd(&sums[1], (unsigned long long)sum);
    if (threadIdx.x == 0 && left) atomicAdd(&sums[0], (unsigned long long)left);
}

int main(int argc, char** argv)
{
    int cars = argc > 1 ? atoi(argv[1]) : 1000;
    int stages = argc > 2 ? atoi(argv[2]) : 20;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    float* total;
    char* out;
    cudaMalloc(&total, cars * sizeof(float));
    cudaMalloc(&out, cars);
    cudaMemset(total, 0, cars * sizeof(float));
    cudaMemset(out, 0, cars);
    int blocks = (cars + 255) / 256;
    unsigned long long *best, *sums, host_best, host_sums[2];
    int *leader, host_leader;
    cudaMalloc(&best, sizeof(*best));
    cudaMalloc(&sums, 2 * sizeof(*sums));
    cudaMalloc(&leader, sizeof(*leader));
    for (int stage = 0; stage < stages; ++stage) {
        cudaMemset(best, 0xff, sizeof(*best));
        cudaMemset(sums, 0, 2 * sizeof(*sums));
        cudaMemset(leader, 0x7f, sizeof(*leader));
        drive<<<blocks, 256>>>(total, out, cars, seed, stage);
        best_time<<<blocks, 256>>>(total, out, cars, best);
        leader_and_cut<<<blocks, 256>>>(total, out, cars, best, leader, sums);
        cudaMemcpy(&host_best, best, sizeof(host_best), cudaMemcpyDeviceToHost);
        cudaMemcpy(host_sums, sums, sizeof(host_sums), cudaMemcpyDeviceToHost);
        cudaMemcpy(&host_leader, leader, sizeof(host_leader), cudaMemcpyDeviceToHost);
        if (host_sums[0] == 0) {
            printf("stage %d: nobody left\n", stage + 1);
            break;
        }
        printf("stage %d: car %d in %llu, %llu left, gaps %llu\n", stage + 1, host_leader, host_best,
               host_sums[0], host_sums[1]);
    }

    float* rows = (float*)malloc(cars * sizeof(float));
    cudaMemcpy(rows, total, cars * sizeof(float), cudaMemcpyDeviceToHost);
    unsigned long long check = 0;
    for (int c = 0; c < cars; ++c) check = check * 1000003ULL + (unsigned long long)rows[c];
    printf("totals %016llx\n", check);
    free(rows);

    cudaFree(out);
    cudaFree(total);
    return 0;
}
