#include <cuda_fp16.h>

__global__ void compass(const short* dir, const float* speed, float* u, float* v, float* steady, int* counted,
                        int stations, int n, float calm) {
    __shared__ __half2 unit[360];
    __shared__ float4 part[4];
    int t = threadIdx.x;
    for (int d = t; d < 360; d += 128) {
        float s, c;
        sincospif((float)d / 180.0f, &s, &c);
        unit[d] = __floats2half2_rn(s, c);
    }
    __syncthreads();
    long long row = (long long)blockIdx.x * n;
    float east = 0.0f, north = 0.0f, sum = 0.0f;
    int count = 0;
    for (int i = t; i < n; i += 128) {
        float w = speed[row + i];
        if (w > calm) {
            float2 a = __half22float2(unit[dir[row + i]]);
            east += w * a.x;
            north += w * a.y;
            sum += w;
            ++count;
        }
    }
    for (int k = 16; k > 0; k >>= 1) {
        east += __shfl_down_sync(0xffffffffu, east, k);
        north += __shfl_down_sync(0xffffffffu, north, k);
        sum += __shfl_down_sync(0xffffffffu, sum, k);
    }
    count = __reduce_add_sync(0xffffffffu, count);
    if ((t & 31) == 0) part[t >> 5] = make_float4(east, north, sum, __int_as_float(count));
    __syncthreads();
    if (t == 0) {
        float4 a = part[0], b = part[1], c = part[2], d = part[3];
        int total = __float_as_int(a.w) + __float_as_int(b.w) + __float_as_int(c.w) + __float_as_int(d.w);
        east = (a.x + b.x) + (c.x + d.x);
        north = (a.y + b.y) + (c.y + d.y);
        sum = (a.z + b.z) + (c.z + d.z);
        bool any = total != 0;
        counted[blockIdx.x] = total;
        u[blockIdx.x] = any ? east / (float)total : 0.0f;
        v[blockIdx.x] = any ? north / (float)total : 0.0f;
        steady[blockIdx.x] = any ? sqrtf(east * east + north * north) / sum : 0.0f;
    }
}
