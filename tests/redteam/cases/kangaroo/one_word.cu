// Every stone i lies back[i] stones (1 to 8) in front of stone i - back[i]. A kangaroo that stands on stone i pays toll[i],
// hops to i - back[i], and so on until it leaves the row (below stone 0). fare[i] is all that it pays, modulo 2^32.
// Pointer doubling: after round r every stone knows the stone reached after 2^r hops and the toll paid up to there.
#include <cuda_runtime.h>

// Destination and toll travel in one aligned 64-bit word, so the doubling can be done in place: any version of a word that a
// thread may see is a true statement "paid so much from here up to there".
#include <cuda/atomic>
using word = unsigned long long;
using cell = cuda::atomic_ref<word, cuda::thread_scope_device>;

__global__ void seed(const int* __restrict__ back, const unsigned* __restrict__ toll, word* __restrict__ w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int t = i - back[i];
    if (t < 0) t = -1;
    w[i] = ((word)(unsigned)t << 32) | toll[i];
}

__global__ void leap(word* w, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    word mine = cell(w[i]).load(cuda::memory_order_relaxed);
    int t = (int)(mine >> 32);
    if (t < 0) return;
    word other = cell(w[t]).load(cuda::memory_order_relaxed);
    unsigned p = (unsigned)mine + (unsigned)other;
    cell(w[i]).store((other & 0xffffffff00000000ull) | p, cuda::memory_order_relaxed);
}

__global__ void finish(const word* __restrict__ w, unsigned* __restrict__ fare, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) fare[i] = (unsigned)w[i];
}

extern "C" void kangaroo(const int* back, const unsigned* toll, unsigned* fare, int n) {
    if (n <= 0) return;
    word* w;
    cudaMallocAsync((void**)&w, sizeof(word) * (size_t)n, 0);
    int grid = (n + 255) / 256;
    seed<<<grid, 256>>>(back, toll, w, n);
    for (long long reach = 1; reach < n; reach *= 2) leap<<<grid, 256>>>(w, n);
    finish<<<grid, 256>>>(w, fare, n);
    cudaFreeAsync(w, 0);
}
