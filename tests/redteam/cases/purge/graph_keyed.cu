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

static int* latest = nullptr;
static int room = 0;

static cudaStream_t lane = nullptr;
static cudaGraphExec_t ready = nullptr;

// what the graph was made for
struct Call {
    const void *user, *stamp, *keep;
    int n, users, window;
};
static Call made = {};

extern "C" void purge(const int* user, const int* stamp, unsigned char* keep, int* kept, int n, int users, int window)
{
    if (lane == nullptr) cudaStreamCreateWithFlags(&lane, cudaStreamNonBlocking);
    const Call call = { user, stamp, keep, n, users, window };
    if (ready == nullptr || call.user != made.user || call.stamp != made.stamp || call.keep != made.keep
        || call.n != made.n || call.users != made.users || call.window != made.window) {
        if (ready) cudaGraphExecDestroy(ready);
        if (users > room) {
            cudaFree(latest);
            cudaMalloc((void**)&latest, (size_t)users * sizeof(int));
            room = users;
        }
        cudaGraph_t graph;
        cudaStreamBeginCapture(lane, cudaStreamCaptureModeThreadLocal);
        cudaMemsetAsync(latest, 0xff, (size_t)users * sizeof(int), lane);   // -1: before any stamp
        cudaMemsetAsync(kept, 0, (size_t)users * sizeof(int), lane);
        const int blocks = (n + 255) / 256;
        newest<<<blocks, 256, 0, lane>>>(user, stamp, latest, n, users);
        sift<<<blocks, 256, 0, lane>>>(user, stamp, latest, keep, kept, n, users, window);
        cudaStreamEndCapture(lane, &graph);
        cudaGraphInstantiate(&ready, graph, 0);
        cudaGraphDestroy(graph);
        made = call;
    }
    cudaGraphLaunch(ready, 0);
}
