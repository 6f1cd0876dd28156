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

__global__ void sift(const int* __restrict__ user, const int* __restrict__ stamp, int* latest, unsigned char* keep,
                     int* kept, int n, int users, int window)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int account = user[i] % users;
    const bool stays = stamp[i] >= latest[account] - window;
    keep[i] = stays ? 1 : 0;
    if (stays) atomicAdd(kept + account, 1);
}

static cudaStream_t side = nullptr;
static cudaEvent_t zeroed = nullptr;

extern "C" void purge(const int* user, const int* stamp, unsigned char* keep, int* kept, int n, int users, int window)
{
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&zeroed, cudaEventDisableTiming);
    }
    // the counts are zeroed beside the first kernel, and are there before the second one adds to them
    cudaMemsetAsync(kept, 0, (size_t)users * sizeof(int), side);
    cudaEventRecord(zeroed, side);

    int* latest = nullptr;
    cudaMallocAsync((void**)&latest, (size_t)users * sizeof(int), 0);
    cudaMemsetAsync(latest, 0xff, (size_t)users * sizeof(int), 0);          // -1: before any stamp
    const int blocks = (n + 255) / 256;
    newest<<<blocks, 256>>>(user, stamp, latest, n, users);
    cudaStreamWaitEvent(0, zeroed, 0);
    sift<<<blocks, 256>>>(user, stamp, latest, keep, kept, n, users, window);
    cudaFreeAsync(latest, 0);
}
