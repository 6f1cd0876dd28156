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

// For every hit the first later one that the counter could register after it, found by bisection. The differences of
// stamps are short, so 32 bits of each will do.
__global__ void leap(const unsigned* stamps, const unsigned* dead, int* next, int rows, int n) {
    size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (at >= (size_t)rows * n) return;
    int row = (int)(at / n), i = (int)(at % n);
    const unsigned* s = stamps + (size_t)row * n;
    unsigned blind = dead[row];
    int low = i + 1, high = n;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (s[mid] - s[i] >= blind)
            high = mid;
        else
            low = mid + 1;
    }
    next[at] = low;
}

__global__ void follow(const unsigned* stamps, const int* next, unsigned char* kept, int* count, unsigned long long* spread, int rows, int n) {
    __shared__ unsigned classes[64];
    if (threadIdx.x < 64) classes[threadIdx.x] = 0;
    __syncthreads();
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        const unsigned* s = stamps + (size_t)row * n;
        const int* leaps = next + (size_t)row * n;
        unsigned char* k = kept + (size_t)row * n;
        int many = 1, i = 0;
        k[0] = 1;
        for (;;) {
            int j = leaps[i];
            if (j >= n) break;
            k[j] = 1;
            unsigned since = (unsigned)(s[j] - s[i]);
            atomicAdd(&classes[min(since >> 17, 63u)], 1u);
            ++many;
            i = j;
        }
        count[row] = many;
    }
    __syncthreads();
    if (threadIdx.x < 64 && classes[threadIdx.x]) atomicAdd(&spread[threadIdx.x], (unsigned long long)classes[threadIdx.x]);
}

static unsigned* stamps = nullptr;
static int* next_hit = nullptr;
static size_t room = 0;

extern "C" void scintilla(const unsigned* gap, const unsigned* dead, unsigned char* kept, int* count, unsigned long long* spread,
                          int rows, int n) {
    size_t need = (size_t)rows * n;
    if (need > room) {
        cudaFree(stamps);
        cudaFree(next_hit);
        cudaMalloc((void**)&stamps, need * sizeof(unsigned));
        cudaMalloc((void**)&next_hit, need * sizeof(int));
        room = need;
    }
    cudaMemsetAsync(kept, 0, need);
    cudaMemsetAsync(spread, 0, 64 * sizeof(unsigned long long));
    stamp_rows<<<rows, 256>>>(gap, stamps, rows, n);
    leap<<<(unsigned)((need + 255) / 256), 256>>>(stamps, dead, next_hit, rows, n);
    follow<<<(rows + 63) / 64, 64>>>(stamps, next_hit, kept, count, spread, rows, n);
}
