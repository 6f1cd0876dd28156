// Only the cars still in the rally, in two lists that are compacted by turns.
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

__global__ void drive(long long* total, const int* list, int n, int* next, int* fresh, unsigned seed, int stage,
                      unsigned long long* best)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = false;
    int c = 0;
    if (i < n) {
        c = list[i];
        long long time = stage_time(seed, c, stage);
        total[c] += time;
        in = time != 0;
        if (in) atomicMin(best, (unsigned long long)total[c]);
    }
    unsigned vote = __ballot_sync(0xffffffffu, in);
    int lane = threadIdx.x & 31, at = 0;
    if (lane == 0 && vote) at = atomicAdd(fresh, __popc(vote));
    at = __shfl_sync(0xffffffffu, at, 0);
    if (in) next[at + __popc(vote & ((1u << lane) - 1))] = c;
}

__global__ void cut(const long long* total, const int* list, const int* fresh, int* next, const unsigned long long* best,
                    int* leader, unsigned long long* sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= *fresh) return;
    int c = list[i];
    long long gap = total[c] - (long long)*best;
    if (gap == 0) atomicMin(leader, c);
    if (gap > TIME_LIMIT) return;
    next[atomicAdd(&sums[0], 1ULL)] = c;
    atomicAdd(&sums[1], (unsigned long long)gap);
}

__global__ void number(int* list, int cars)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cars) list[c] = c;
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
    unsigned long long *best, *sums, host_best, host_sums[2];
    int *leader, *fresh, *list, *middle, host_leader, n = cars;
    cudaMalloc(&best, sizeof(*best));
    cudaMalloc(&sums, 2 * sizeof(*sums));
    cudaMalloc(&leader, sizeof(*leader));
    cudaMalloc(&fresh, sizeof(*fresh));
    cudaMalloc(&list, cars * sizeof(int));
    cudaMalloc(&middle, cars * sizeof(int));
    number<<<blocks, 256>>>(list, cars);
    for (int stage = 0; stage < stages; ++stage) {
        cudaMemset(best, 0xff, sizeof(*best));
        cudaMemset(sums, 0, 2 * sizeof(*sums));
        cudaMemset(leader, 0x7f, sizeof(*leader));
        cudaMemset(fresh, 0, sizeof(*fresh));
        drive<<<(n + 255) / 256, 256>>>(total, list, n, middle, fresh, seed, stage, best);
        cut<<<(n + 255) / 256, 256>>>(total, middle, fresh, list, best, leader, sums);
        cudaMemcpy(&host_best, best, sizeof(host_best), cudaMemcpyDeviceToHost);
        cudaMemcpy(host_sums, sums, sizeof(host_sums), cudaMemcpyDeviceToHost);
        cudaMemcpy(&host_leader, leader, sizeof(host_leader), cudaMemcpyDeviceToHost);
        n = (int)host_sums[0];
        if (n == 0) {
            printf("stage %d: nobody left\n", stage + 1);
            break;
        }
        printf("stage %d: car %d in %llu, %llu left, gaps %llu\n", stage + 1, host_leader, host_best,
               host_sums[0], host_sums[1]);
    }

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
