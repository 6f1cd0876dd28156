// Axis-aligned bounding box of a point cloud and the point farthest from the origin (L1 norm),
// in a single launch: warp shuffles, one partial per block, the last block to arrive folds the partials.
// NaN coordinates do not take part. far = lowest index among the farthest, -1 if there is none.
#include <cuda_runtime.h>
#include <math_constants.h>

#define MAX_BLOCKS 1024

__device__ float part_box[MAX_BLOCKS][6];
__device__ unsigned long long part_key[MAX_BLOCKS];
__device__ unsigned int ticket = 0;

struct Acc {
    float lo[3], hi[3];
    unsigned long long key;     // norm bits in the upper half, ~index in the lower
};

__device__ __forceinline__ void clear(Acc& a)
{
    for (int c = 0; c < 3; ++c) { a.lo[c] = CUDART_INF_F; a.hi[c] = -CUDART_INF_F; }
    a.key = 0;
}

__device__ __forceinline__ void fold(Acc& a, const float* lo, const float* hi, unsigned long long key)
{
    for (int c = 0; c < 3; ++c) { a.lo[c] = fminf(a.lo[c], lo[c]); a.hi[c] = fmaxf(a.hi[c], hi[c]); }
    if (key > a.key) a.key = key;
}

__device__ __forceinline__ void point(Acc& a, float x, float y, float z, int i)
{
    float p[3] = {x, y, z};
    float d = (fabsf(x) + fabsf(y)) + fabsf(z);
    unsigned long long key = 0;
    if (d >= 0.0f) key = ((unsigned long long)__float_as_uint(d) << 32) | (0xffffffffu - (unsigned)i);
    fold(a, p, p, key);
}

__device__ __forceinline__ void warp_fold(Acc& a)
{
    for (int s = 16; s > 0; s >>= 1) {
        float lo[3], hi[3];
        for (int c = 0; c < 3; ++c) {
            lo[c] = __shfl_xor_sync(0xffffffffu, a.lo[c], s);
            hi[c] = __shfl_xor_sync(0xffffffffu, a.hi[c], s);
        }
        unsigned long long key = __shfl_xor_sync(0xffffffffu, a.key, s);
        fold(a, lo, hi, key);
    }
}

__device__ void block_fold(Acc& a, float (*sbox)[6], unsigned long long* skey)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    warp_fold(a);
    if (lane == 0) {
        for (int c = 0; c < 3; ++c) { sbox[warp][c] = a.lo[c]; sbox[warp][3 + c] = a.hi[c]; }
        skey[warp] = a.key;
    }
    __syncthreads();
    if (warp == 0) {
        clear(a);
        if (lane < warps) fold(a, sbox[lane], sbox[lane] + 3, skey[lane]);
        warp_fold(a);
    }
}

extern "C" __global__ void hullbox(const float* pts, float* box, int* far, int n)
{
    __shared__ float sbox[32][6];
    __shared__ unsigned long long skey[32];
    __shared__ bool last;

    Acc a;
    clear(a);
    int stride = gridDim.x * blockDim.x;
    // twelve floats = four whole points = three 16-byte loads; the buffer begins on a 256-byte line
    const float4* v = reinterpret_cast<const float4*>(pts);
    int groups = n >> 2;
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < groups; g += stride) {
        float4 p = __ldcs(v + 3 * (size_t)g), q = __ldcs(v + 3 * (size_t)g + 1), r = __ldcs(v + 3 * (size_t)g + 2);
        int i = g << 2;
        point(a, p.x, p.y, p.z, i);
        point(a, p.w, q.x, q.y, i + 1);
        point(a, q.z, q.w, r.x, i + 2);
        point(a, r.y, r.z, r.w, i + 3);
    }
    int i = (groups << 2) + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) point(a, pts[3 * (size_t)i], pts[3 * (size_t)i + 1], pts[3 * (size_t)i + 2], i);
    block_fold(a, sbox, skey);

    if (threadIdx.x == 0) {
        for (int c = 0; c < 3; ++c) {
            part_box[blockIdx.x][c] = a.lo[c];
            part_box[blockIdx.x][3 + c] = a.hi[c];
        }
        part_key[blockIdx.x] = a.key;
        __threadfence();
        last = atomicAdd(&ticket, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;

    __threadfence();
    clear(a);
    for (int b = threadIdx.x; b < (int)gridDim.x; b += blockDim.x) {
        float t[6];
        for (int c = 0; c < 6; ++c) t[c] = __ldcg(&part_box[b][c]);
        fold(a, t, t + 3, __ldcg(&part_key[b]));
    }
    block_fold(a, sbox, skey);
    if (threadIdx.x == 0) {
        for (int c = 0; c < 3; ++c) { box[c] = a.lo[c]; box[3 + c] = a.hi[c]; }
        far[0] = a.key ? (int)(0xffffffffu - (unsigned)a.key) : -1;
        ticket = 0;
    }
}
