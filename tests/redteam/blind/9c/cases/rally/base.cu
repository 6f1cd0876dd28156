// A rally: stage after stage every car adds its time; breakdowns and cars too far behind the leader are out.
// Prints the leader, the cars left and the sum of their gaps after each stage, and a digest of all totals.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define TIME_LIMIT 250000  // milliseconds behind the leader: out of the rally

struct Standing { unsigned long long best, left, gaps; int leader; };

// stage time in milliseconds; 0: the car breaks down
__device__ long long stage_time(unsigned seed, unsigned car, unsigned stage)
{
    unsigned h = seed * 0x9e3779b1u ^ car * 0x85ebca77u ^ stage * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    h ^= h >> 15;
    return h % 151u == 0 ? 0 : 300000 + (long long)((h >> 8) % 60000u);
}

__global__ void drive(long long* total, char* out, int cars, unsigned seed, int stage, Standing* now)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cars || out[c]) return;
    long long time = stage_time(seed, c, stage);
    total[c] += time;
    if (time == 0) out[c] = 1;
    else atomicMin(&now->best, (unsigned long long)total[c]);
}

__global__ void leader_and_cut(const long long* total, char* out, int cars, Standing* now)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cars || out[c]) return;
    long long gap = total[c] - (long long)now->best;
    if (gap == 0) atomicMin(&now->leader, c);
    out[c] = gap > TIME_LIMIT;
    if (out[c]) return;
    atomicAdd(&now->left, 1ULL);
    atomicAdd(&now->gaps, (unsigned long long)gap);
}

int main(int argc, char** argv)
{
    int cars = argc > 1 ? atoi(argv[1]) : 1000, stages = argc > 2 ? atoi(argv[2]) : 20;
    unsigned seed = argc > 3 ? (unsigned)atoi(argv[3]) : 1u;
    long long* total;
    char* out;
    Standing* now;
    cudaMalloc(&total, cars * sizeof(long long));
    cudaMalloc(&out, cars);
    cudaMalloc(&now, sizeof(Standing));
    cudaMemset(total, 0, cars * sizeof(long long));
    cudaMemset(out, 0, cars);
    for (int stage = 0; stage < stages; ++stage) {
        Standing s = {~0ULL, 0, 0, 0x7f7f7f7f};
        cudaMemcpy(now, &s, sizeof(s), cudaMemcpyHostToDevice);
        drive<<<(cars + 255) / 256, 256>>>(total, out, cars, seed, stage, now);
        leader_and_cut<<<(cars + 255) / 256, 256>>>(total, out, cars, now);
        cudaMemcpy(&s, now, sizeof(s), cudaMemcpyDeviceToHost);
        if (s.left == 0) { printf("stage %d: nobody left\n", stage + 1); break; }
        printf("stage %d: car %d in %llu, %llu left, gaps %llu\n", stage + 1, s.leader, s.best, s.left, s.gaps);
    }
    std::vector<long long> rows(cars);
    cudaMemcpy(rows.data(), total, cars * sizeof(long long), cudaMemcpyDeviceToHost);
    unsigned long long check = 0;
    for (long long t : rows) check = check * 1000003ULL + (unsigned long long)t;
    printf("totals %016llx\n", check);
    cudaFree(now); cudaFree(out); cudaFree(total);
}
