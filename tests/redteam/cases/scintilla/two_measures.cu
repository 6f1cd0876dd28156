// Dead time of scintillation counters. Each row holds the hits of one counter as the time since the hit before. The first hit is
// registered; after a registered hit the counter is blind for dead[row], and the hits meanwhile do not prolong that.
// Gives which hits are registered, how many a row, and how the times between registered hits spread over 64 classes.
#include <cuda_runtime.h>

// The time stamp of every hit since the first: one block per row, 256 hits a round.
__global__ void stamp_rows(const unsigned* gap, unsigned* stamps, int rows, int n) {
    __shared__ unsigned sums[8];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, row = blockIdx.x;
    const unsigned* g = gap + (size_t)row * n;
    unsigned* s = stamps + (size_t)row * n;
    unsigned carry = 0;
    for (int first = 0; first < n; first += 256) {
        int i = first + threadIdx.x;
        unsigned t = i > 0 && i < n ? g[i] : 0;
        for (int d = 1; d < 32; d <<= 1) {
            unsigned v = __shfl_up_sync(0xffffffffu, t, d);
            if (lane >= d) t += v;
        }
        if (lane == 31) sums[warp] = t;
        __syncthreads();
        unsigned all = 0;
        for (int k = 0; k < 8; ++k) {
            if (k < warp) t += sums[k];
            all += sums[k];
        }
        if (i < n) s[i] = t + carry;
        carry += all;
        __syncthreads();
    }
}

__global__ void keep(const unsigned* stamps, const unsigned* dead, unsigned char* kept, int* count, unsigned long long* spread, int rows,
                     int n) {
    __shared__ unsigned classes[64];
    if (threadIdx.x < 64) classes[threadIdx.x] = 0;
    __syncthreads();
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        const unsigned* s = stamps + (size_t)row * n;
        unsigned char* k = kept + (size_t)row * n;
        unsigned last = s[0], blind = dead[row];
        int many = 1;
        k[0] = 1;
        for (int i = 1; i < n; ++i) {
            unsigned now = s[i], since = now - last;
            bool yes = since >= blind;
            k[i] = yes;
            if (yes) {
                atomicAdd(&classes[min(since >> 17, 63u)], 1u);
                last = now;
                ++many;
            }
        }
        count[row] = many;
    }
    __syncthreads();
    if (threadIdx.x < 64 && classes[threadIdx.x]) atomicAdd(&spread[threadIdx.x], (unsigned long long)classes[threadIdx.x]);
}

static unsigned* stamps = nullptr;
static int most_rows = 0, most_n = 0;

extern "C" void scintilla(const unsigned* gap, const unsigned* dead, unsigned char* kept, int* count, unsigned long long* spread,
                          int rows, int n) {
    if (rows > most_rows || n > most_n) {
        cudaFree(stamps);
        cudaMalloc((void**)&stamps, (size_t)rows * n * sizeof(unsigned));
        if (rows > most_rows) most_rows = rows;
        if (n > most_n) most_n = n;
    }
    cudaMemsetAsync(spread, 0, 64 * sizeof(unsigned long long));
    stamp_rows<<<rows, 256>>>(gap, stamps, rows, n);
    keep<<<(rows + 63) / 64, 64>>>(stamps, dead, kept, count, spread, rows, n);
}
