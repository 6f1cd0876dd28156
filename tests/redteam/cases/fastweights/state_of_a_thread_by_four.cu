// Linear attention with the delta rule. A head keeps a matrix; each step takes from it what it held for the unit key,
// puts in the new value at a rate between 0 and 1, and reads it with the query. A block takes a head; a thread keeps a
// column of up to 64 values in its registers, and reads keys and queries by four. Rows past the last are zero.
#define MOST 64
extern "C" __global__ void __launch_bounds__(128)
    fastweights(const float* __restrict__ query, const float* __restrict__ key, const float* __restrict__ value,
              const float* __restrict__ rate, float* __restrict__ state, float* __restrict__ out, int steps, int dim) {
    extern __shared__ __align__(16) float room[];
    __shared__ float part[4];
    int head = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int wide = (dim + 3) / 4 * 4;
    float* q = room;
    float* k = room + wide;
    float* held = state + (size_t)head * dim * dim;
    bool few = dim <= MOST;
    float column[MOST];
    int mine = threadIdx.x;
    if (few) {
#pragma unroll
        for (int i = 0; i < MOST; ++i) column[i] = i < dim && mine < dim ? held[(size_t)i * dim + mine] : 0.0f;
    }
    for (int t = 0; t < steps; ++t) {
        size_t at = ((size_t)head * steps + t) * dim;
        float square = 0.0f;
        for (int i = threadIdx.x; i < dim; i += 128) {
            float x = key[at + i];
            q[i] = query[at + i];
            k[i] = x;
            square = fmaf(x, x, square);
        }
        for (int s = 16; s > 0; s /= 2) square += __shfl_xor_sync(0xffffffffu, square, s);
        if (lane == 0) part[warp] = square;
        __syncthreads();
        float scale = rsqrtf((part[0] + part[1]) + (part[2] + part[3]) + 1e-6f);
        float beta = 1.0f / (1.0f + expf(-rate[(size_t)head * steps + t]));
        if (few) {
            if (mine < dim) {
                float o0 = 0.0f, o1 = 0.0f, o2 = 0.0f, o3 = 0.0f;
#pragma unroll
                for (int i = 0; i < MOST; i += 4)
                    if (i < wide) {
                        float4 a = *(const float4*)(k + i);
                        o0 = fmaf(column[i], a.x, o0);
                        o1 = fmaf(column[i + 1], a.y, o1);
                        o2 = fmaf(column[i + 2], a.z, o2);
                        o3 = fmaf(column[i + 3], a.w, o3);
                    }
                float old = (o0 + o1) + (o2 + o3);
                float change = beta * (value[at + mine] - old * scale) * scale;
                float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
#pragma unroll
                for (int i = 0; i < MOST; i += 4)
                    if (i < wide) {
                        float4 a = *(const float4*)(k + i);
                        float4 b = *(const float4*)(q + i);
                        column[i] = fmaf(a.x, change, column[i]);
                        if (i + 1 < dim) column[i + 1] = fmaf(a.y, change, column[i + 1]);
                        if (i + 2 < dim) column[i + 2] = fmaf(a.z, change, column[i + 2]);
                        if (i + 3 < dim) column[i + 3] = fmaf(a.w, change, column[i + 3]);
                        s0 = fmaf(column[i], b.x, s0);
                        s1 = fmaf(column[i + 1], b.y, s1);
                        s2 = fmaf(column[i + 2], b.z, s2);
                        s3 = fmaf(column[i + 3], b.w, s3);
                    }
                out[at + mine] = (s0 + s1) + (s2 + s3);
            }
        } else {
            for (int j = threadIdx.x; j < dim; j += 128) {
                float old = 0.0f;
                for (int i = 0; i < dim; ++i) old = fmaf(held[(size_t)i * dim + j], k[i], old);
                float change = beta * (value[at + j] - old * scale) * scale;
                float sum = 0.0f;
                for (int i = 0; i < dim; ++i) {
                    float s = fmaf(k[i], change, held[(size_t)i * dim + j]);
                    held[(size_t)i * dim + j] = s;
                    sum = fmaf(s, q[i], sum);
                }
                out[at + j] = sum;
            }
        }
        __syncthreads();
    }
    if (few && mine < dim) {
#pragma unroll
        for (int i = 0; i < MOST; ++i)
            if (i < dim) held[(size_t)i * dim + mine] = column[i];
    }
}
