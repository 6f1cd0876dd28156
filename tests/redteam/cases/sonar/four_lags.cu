// Matched filter: for every ping the lag at which the chirp correlates best with the echo, and that correlation.
// The smallest lag wins among equals; a ping shorter than the chirp has no lag: best = -1, score = 0.
// Persistent blocks; the next ping of a block is fetched with cp.async while the present one is searched.
#include <climits>
#include <cstdint>

constexpr int THREADS = 256;

__device__ __forceinline__ void copy16(void* to, const void* from)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(address), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;\n" ::: "memory"); }

template <int LEFT>
__device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;\n" ::"n"(LEFT) : "memory"); }

// Fetches ping `row` in 16-byte pieces that begin at the multiple of 16 at or before its first sample.
__device__ __forceinline__ void fetch(int8_t* to, const int8_t* echo, long long row, int len, long long all)
{
    long long from = row * len / 16 * 16;
    int pieces = (int)((row * len + len - from + 15) / 16);
    for (int p = threadIdx.x; p < pieces; p += THREADS) {
        long long at = from + p * 16ll;
        if (at + 16 <= all)
            copy16(to + p * 16, echo + at);
        else
            for (int e = 0; e < 16 && at + e < all; e++)
                to[p * 16 + e] = echo[at + e];
    }
}

__device__ __forceinline__ void better(int& score, int& lag, int other, int place)
{
    if (other > score || (other == score && place < lag)) {
        score = other;
        lag = place;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
sonar(const int8_t* __restrict__ echo, const int8_t* __restrict__ chirp, int* __restrict__ best,
      int* __restrict__ score, int rows, int len, int taps)
{
    extern __shared__ __align__(16) int8_t room[];
    __shared__ int warpscore[THREADS / 32], warplag[THREADS / 32];
    int pitch = (len + 31) / 16 * 16;
    int8_t* tap = room + 2 * pitch;
    long long all = (long long)rows * len;

    for (int t = threadIdx.x; t < taps; t += THREADS)
        tap[t] = chirp[t];
    if (blockIdx.x < rows)
        fetch(room, echo, blockIdx.x, len, all);
    commit();

    int turn = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
        if (row + (int)gridDim.x < rows)
            fetch(room + (turn ^ 1) * pitch, echo, row + gridDim.x, len, all);
        commit();
        wait<1>();
        __syncthreads();

        const int8_t* sample = room + turn * pitch + (long long)row * len % 16;
        int top = INT_MIN, where = INT_MAX;
        for (int lag = threadIdx.x * 4; lag + taps <= len; lag += THREADS * 4) {
            int sum[4] = {0, 0, 0, 0};
            int a = sample[lag];
            int b = lag + 1 < len ? sample[lag + 1] : 0;
            int c = lag + 2 < len ? sample[lag + 2] : 0;
            for (int t = 0; t < taps; t++) {
                int d = lag + t + 3 < len ? sample[lag + t + 3] : 0;
                int w = tap[t];
                sum[0] += a * w;
                sum[1] += b * w;
                sum[2] += c * w;
                sum[3] += d * w;
                a = b;
                b = c;
                c = d;
            }
            for (int e = 0; e < 4; e++)
                if (lag + e + taps <= len)
                    better(top, where, sum[e], lag + e);
        }

        for (int step = 16; step > 0; step /= 2)
            better(top, where, __shfl_down_sync(~0u, top, step), __shfl_down_sync(~0u, where, step));
        if (threadIdx.x % 32 == 0) {
            warpscore[threadIdx.x / 32] = top;
            warplag[threadIdx.x / 32] = where;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int w = 1; w < THREADS / 32; w++)
                better(top, where, warpscore[w], warplag[w]);
            best[row] = where == INT_MAX ? -1 : where;
            score[row] = where == INT_MAX ? 0 : top;
        }
        __syncthreads();
    }
    wait<0>();
}
