// Only cars less than a minute behind the leader can lead after the next stage: the rest need no atomic.
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

__global__ void drive(long long* total, char* out, const unsigned long long* lead, int cars, unsigned seed, int stage,
                      unsigned long long* best)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cars || out[c]) return;
    long long time = stage_time(seed, c, stage);
    long long before = total[c];
    total[c] = before + time;
    if (time == 0) {
        out[c] = 1;
        return;
    }
    // stage times differ by less than a minute: whoever is further behind cannot lead now
    if (stage == 0 || before - (long long)*lead < 60000) atomicMin(best, (unsigned long long)(before + time));
}

__global__ void leader_and_cut(const long long* total, char* out, int cars, const unsigned long long* best,
                               int* leader, unsigned long long* sums)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cars || out[c]) return;
    long long gap = total[c] - (long long)*best;
    if (gap == 0) atomicMin(leader, c);
    if (gap > TIME_LIMIT) {
        out[c] = 1;
        return;
    }
    atomicAdd(&sums[0], 1ULL);
    atomicAdd(&sums[1], (unsigned long long)gap);
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
    unsigned long long *best, *lead, *sums, host_best, host_sums[2];
    int *leader, host_leader;
    cudaMalloc(&best, sizeof(*best));
    cudaMemset(best, 0, sizeof(*best));
    cudaMalloc(&lead, sizeof(*lead));
    cudaMalloc(&sums, 2 * sizeof(*sums));
    cudaMalloc(&leader, sizeof(*leader));
    for (int stage = 0; stage < stages; ++stage) {
        cudaMemcpy(lead, best, sizeof(*lead), cudaMemcpyDeviceToDevice);
        cudaMemset(best, 0xff, sizeof(*best));
        cudaMemset(sums, 0, 2 * sizeof(*sums));
        cudaMemset(leader, 0x7f, sizeof(*leader));
        drive<<<blocks, 256>>>(total, out, lead, cars, seed, stage, best);
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
