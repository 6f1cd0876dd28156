// Fills the gaps of sensor series. A missing reading is interpolated between the known ones on either side of its gap;
// before the first known reading and after the last one that reading is held; a series without any is zero.
#include <cuda_runtime.h>
#include <stdint.h>

constexpr int THREADS = 256;

__global__ void impute_rows(const float* x, const uint8_t* known, float* y, int* filled, int rows, int n)
{
    __shared__ int total[THREADS / 32];
    __shared__ int missing;
    const int t = threadIdx.x;
    const long long base = (long long)blockIdx.x * n;
    const float* xr = x + base;
    const uint8_t* kr = known + base;
    float* yr = y + base;
    const int per = (n + THREADS - 1) / THREADS;
    const int lo = min(n, t * per);
    const int hi = min(n, lo + per);
    if (t == 0)
        missing = 0;

    int f = n, l = -1;
    for (int i = lo; i < hi; ++i) {
        if (kr[i]) {
            if (f == n)
                f = i;
            l = i;
        }
    }
    const int lane = t & 31, warp = t >> 5;
    int back = l;                               // greatest known place up to and with this part
    for (int d = 1; d < 32; d <<= 1) {
        const int o = __shfl_up_sync(0xffffffffu, back, d);
        if (lane >= d)
            back = max(back, o);
    }
    int ahead = f;                              // least known place from this part on
    for (int d = 1; d < 32; d <<= 1) {
        const int o = __shfl_down_sync(0xffffffffu, ahead, d);
        if (lane + d < 32)
            ahead = min(ahead, o);
    }
    if (lane == 31)
        total[warp] = back;
    __syncthreads();
    int prev = __shfl_up_sync(0xffffffffu, back, 1);
    if (lane == 0)
        prev = -1;
    for (int s = 0; s < warp; ++s)
        prev = max(prev, total[s]);
    if (lane == 0)
        total[warp] = ahead;
    __syncthreads();
    int after = __shfl_down_sync(0xffffffffu, ahead, 1);
    if (lane == 31)
        after = n;
    for (int s = warp + 1; s < THREADS / 32; ++s)
        after = min(after, total[s]);

    int count = 0;
    int next = -1;                              // the first known reading at or behind i
    for (int i = lo; i < hi; ++i) {
        if (kr[i]) {
            yr[i] = xr[i];
            prev = i;
            continue;
        }
        if (next < i) {
            next = i + 1;
            while (next < hi && !kr[next])
                ++next;
            if (next == hi)
                next = after;
        }
        float value = 0.0f;
        if (prev >= 0 && next < n) {
            const float a = xr[prev];
            const float b = xr[next];
            const float w = (float)(i - prev) / (float)(next - prev);
            value = a + (b - a) * w;
        } else if (prev >= 0) {
            value = xr[prev];
        } else if (next < n) {
            value = xr[next];
        }
        yr[i] = value;
        ++count;
    }
    atomicAdd(&missing, count);
    __syncthreads();
    if (t == 0)
        filled[blockIdx.x] = missing;
}

void impute(const float* x, const uint8_t* known, float* y, int* filled, int rows, int n)
{
    impute_rows<<<rows, THREADS>>>(x, known, y, filled, rows, n);
}
