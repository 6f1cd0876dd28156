// Retention. Every event has a user and a stamp. An event is kept if it lies no further than `window` behind the newest
// event of its user (so the newest always is). keep gets 1 or 0 per event, kept the number of kept events per user.
// User numbers are folded into `users` accounts.
#include <cuda_runtime.h>

__global__ void newest(const int* __restrict__ user, const int* __restrict__ stamp, int* latest, int n, int users)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMax(latest + user[i] % users, stamp[i]);
}

// Blocks of sift that are done. The last one has the table to itself and leaves it ready for the next call.
__device__ unsigned ticket = 0;

__global__ void sift(const int* __restrict__ user, const int* __restrict__ stamp, int* latest, unsigned char* keep,
                     int* kept, int n, int users, int window)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int account = user[i] % users;
        const bool stays = stamp[i] >= latest[account] - window;
        keep[i] = stays ? 1 : 0;
        if (stays) atomicAdd(kept + account, 1);
    }
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        for (int u = threadIdx.x; u < users; u += blockDim.x) latest[u] = -1;
    }
}

static int* latest = nullptr;
static int room = 0;

extern "C" void purge(const int* user, const int* stamp, unsigned char* keep, int* kept, int n, int users, int window)
{
    if (users > room) {
        cudaFree(latest);
        cudaMalloc((void**)&latest, (size_t)users * sizeof(int));
        cudaMemsetAsync(latest, 0xff, (size_t)users * sizeof(int), 0);      // -1: before any stamp
        room = users;
    }
    cudaMemsetAsync(kept, 0, (size_t)users * sizeof(int), 0);
    const int blocks = (n + 255) / 256;
    newest<<<blocks, 256>>>(user, stamp, latest, n, users);
    sift<<<blocks, 256>>>(user, stamp, latest, keep, kept, n, users, window);
}
