// One level of the reversible 5/3 wavelet (JPEG 2000) in two dimensions, in the interleaved order of the lifting scheme:
// first along the rows, then along the columns. Odd places hold details, even places the smooth part; edges are mirrored;
// a side of length 1 is left as it is. >> rounds down.
// A block brings its tile and a rim of two into shared memory (mirrored there: the mirrored signal has mirrored
// details), and lifts in place: rows odd, rows even, columns odd, columns even.
#include <cuda_runtime.h>

#define TW 64
#define TH 16
#define PW (TW + 4)
#define PH (TH + 4)

// mirrored at both ends as often as it takes: a rim of two may pass a short side more than once
__device__ __forceinline__ int reflect(int x, int length)
{
    if (length == 1) return 0;
    int period = 2 * (length - 1);
    x = abs(x) % period;
    return x < length ? x : period - x;
}

__global__ void __launch_bounds__(256) lift(const int* image, int* out, int h, int w)
{
    __shared__ int s[PH][PW];
    int x0 = blockIdx.x * TW, y0 = blockIdx.y * TH;         // both even
    int same = 1, level = image[(size_t)y0 * w + x0];
    for (int e = threadIdx.x; e < PH * PW; e += 256) {
            int gx = x0 - 2 + e % PW, gy = y0 - 2 + e / PW;
            int v = image[(size_t)reflect(gy, h) * w + reflect(gx, w)];
            s[e / PW][e % PW] = v;
            if (gx >= x0 && gx < x0 + TW && gy >= y0 && gy < y0 + TH) same &= v == level;
    }
    __syncthreads();
    // sky and margins: a flat tile has no details and its smooth part is itself
    if (__syncthreads_and(same)) {
        for (int e = threadIdx.x; e < TH * TW; e += 256) {
            int x = x0 + e % TW, y = y0 + e / TW;
            if (x < w && y < h) out[(size_t)y * w + x] = (x & 1) || (y & 1) ? 0 : level;
        }
        return;
    }
    if (w > 1) {
        // place c of the tile is column x0 - 2 + c: the parities agree
        for (int e = threadIdx.x; e < PH * (TW / 2 + 1); e += 256) {
            int r = e / (TW / 2 + 1), c = 2 * (e % (TW / 2 + 1)) + 1;
            s[r][c] -= (s[r][c - 1] + s[r][c + 1]) >> 1;
        }
        __syncthreads();
        for (int e = threadIdx.x; e < PH * (TW / 2); e += 256) {
            int r = e / (TW / 2), c = 2 * (e % (TW / 2)) + 2;
            s[r][c] += (s[r][c - 1] + s[r][c + 1] + 2) >> 2;
        }
        __syncthreads();
    }
    if (h > 1) {
        for (int e = threadIdx.x; e < (TH / 2 + 1) * TW; e += 256) {
            int r = 2 * (e / TW) + 1, c = e % TW + 2;
            s[r][c] -= (s[r - 1][c] + s[r + 1][c]) >> 1;
        }
        __syncthreads();
        for (int e = threadIdx.x; e < (TH / 2) * TW; e += 256) {
            int r = 2 * (e / TW) + 2, c = e % TW + 2;
            s[r][c] += (s[r - 1][c] + s[r + 1][c] + 2) >> 2;
        }
        __syncthreads();
    }
    for (int e = threadIdx.x; e < TH * TW; e += 256) {
        int x = x0 + e % TW, y = y0 + e / TW;
        if (x < w && y < h) out[(size_t)y * w + x] = s[e / TW + 2][e % TW + 2];
    }
}

extern "C" void lifting53(const int* image, int* out, int h, int w)
{
    dim3 block(256), grid((w + TW - 1) / TW, (h + TH - 1) / TH);
    lift<<<grid, block>>>(image, out, h, w);
}
