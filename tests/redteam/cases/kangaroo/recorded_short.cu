// Every stone i lies back[i] stones (1 to 8) in front of stone i - back[i]. A kangaroo that stands on stone i pays toll[i],
// hops to i - back[i], and so on until it leaves the row (below stone 0). fare[i] is all that it pays, modulo 2^32.
// Pointer doubling: after round r every stone knows the stone reached after 2^r hops and the toll paid up to there.
#include <cuda_runtime.h>

__global__ void seed(const int* __restrict__ back, const unsigned* __restrict__ toll, int* __restrict__ to,
                     unsigned* __restrict__ paid, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = i - back[i];
    to[i] = t < 0 ? -1 : t;
    paid[i] = toll[i];
}

__global__ void leap(const int* __restrict__ to, const unsigned* __restrict__ paid, int* __restrict__ to2,
                     unsigned* __restrict__ paid2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = to[i];
    unsigned p = paid[i];
    if (t >= 0) {
        p += paid[t];
        t = to[t];
    }
    to2[i] = t;
    paid2[i] = p;
}

struct Plan {
    const int* back = nullptr;
    const unsigned* toll = nullptr;
    unsigned* fare = nullptr;
    int n = 0;
    cudaGraphExec_t exec = nullptr;
};
static Plan plan;
static void* room = nullptr;
static size_t room_bytes = 0;

static void record(cudaStream_t s, const int* back, const unsigned* toll, unsigned* fare, int n) {
    int* to = (int*)room;
    int* to2 = to + n;
    unsigned* paid = (unsigned*)(to2 + n);
    unsigned* paid2 = paid + n;
    int grid = (n + 255) / 256;
    seed<<<grid, 256, 0, s>>>(back, toll, to, paid, n);
    for (long long reach = 1; reach < n; reach *= 2) {
        leap<<<grid, 256, 0, s>>>(to, paid, to2, paid2, n);
        int* a = to; to = to2; to2 = a;
        unsigned* b = paid; paid = paid2; paid2 = b;
    }
    cudaMemcpyAsync(fare, paid, sizeof(unsigned) * (size_t)n, cudaMemcpyDeviceToDevice, s);
}

// The two dozen launches are recorded once and replayed while the call stays the same; the kernels read the buffers anew each time.
extern "C" void kangaroo(const int* back, const unsigned* toll, unsigned* fare, int n) {
    if (n <= 0) return;
    bool same = plan.exec && plan.back == back && plan.fare == fare && plan.n == n;
    if (!same) {
        size_t bytes = 16 * (size_t)n;
        if (bytes > room_bytes) {
            cudaDeviceSynchronize();
            if (room) cudaFree(room);
            cudaMalloc(&room, bytes);
            room_bytes = bytes;
        }
        if (plan.exec) {
            cudaDeviceSynchronize();
            cudaGraphExecDestroy(plan.exec);
            plan.exec = nullptr;
        }
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaGraph_t graph;
        cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal);
        record(s, back, toll, fare, n);
        cudaStreamEndCapture(s, &graph);
        cudaGraphInstantiate(&plan.exec, graph, 0);
        cudaGraphDestroy(graph);
        cudaStreamDestroy(s);
        plan.back = back;
        plan.toll = toll;
        plan.fare = fare;
        plan.n = n;
    }
    cudaGraphLaunch(plan.exec, 0);
}
