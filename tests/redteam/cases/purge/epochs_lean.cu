// Retention. Every event has a user and a stamp. An event is kept if it lies no further than `window` behind the newest
// event of its user (so the newest always is). keep gets 1 or 0 per event, kept the number of kept events per user.
// User numbers are folded into `users` accounts.
#include <cuda_runtime.h>

__global__ void newest(const int* __restrict__ user, const int* __restrict__ stamp, unsigned* latest, unsigned epoch,
                       int n, int users)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMax(latest + user[i] % users, epoch << 30 | (unsigned)stamp[i]);
}

__global__ void sift(const int* __restrict__ user, const int* __restrict__ stamp, const unsigned* latest, unsigned char* keep,
                     int* kept, int n, int users, int window)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int account = user[i] % users;
    const bool stays = stamp[i] >= (int)(latest[account] & 0x3fffffffu) - window;
    keep[i] = stays ? 1 : 0;
    if (stays) atomicAdd(kept + account, 1);
}

// Stamps take 30 bits. The two above hold the epoch of the call, 1 to 3, so that what earlier calls left is older than
// any stamp of this one and the table is wiped in one call of three only.
static unsigned* latest = nullptr;
static int room = 0;
static unsigned epoch = 0;

extern "C" void purge(const int* user, const int* stamp, unsigned char* keep, int* kept, int n, int users, int window)
{
    if (users > room) {
        cudaFree(latest);
        cudaMalloc((void**)&latest, (size_t)users * sizeof(unsigned));
        room = users;
        epoch = 3;
    }
    if (++epoch > 3) {
        epoch = 1;
        cudaMemsetAsync(latest, 0, (size_t)users * sizeof(unsigned), 0);
    }
    cudaMemsetAsync(kept, 0, (size_t)users * sizeof(int), 0);
    const int blocks = (n + 255) / 256;
    newest<<<blocks, 256>>>(user, stamp, latest, epoch, n, users);
    sift<<<blocks, 256>>>(user, stamp, latest, keep, kept, n, users, window);
}
