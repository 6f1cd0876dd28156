// Of every four numbers the two of largest magnitude stay, the earlier ones of equals; in place.
__global__ void prune24(float* x, int n) {
    size_t q = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
    bool aligned = (size_t)x % 16 == 0;
    for (size_t first = 4 * q; first < n; first += 4 * step) {
        bool whole = aligned && first + 4 <= n;
        float v[4];
        if (whole) {
            float4 f = *(float4*)(x + first);
            v[0] = f.x, v[1] = f.y, v[2] = f.z, v[3] = f.w;
        } else {
            // What is not there is smaller than all, and comes last.
            for (int i = 0; i < 4; ++i) v[i] = first + i < n ? x[first + i] : 0.f;
        }
        unsigned before[4] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = i + 1; j < 4; ++j) {
                float a = fabsf(v[i]), b = fabsf(v[j]);
                before[j] += a >= b;
                before[i] += b > a;
            }
        for (int i = 0; i < 4; ++i)
            if (before[i] >= 2) v[i] = 0.f;
        if (whole)
            *(float4*)(x + first) = make_float4(v[0], v[1], v[2], v[3]);
        else
            for (int i = 0; i < 4; ++i)
                if (first + i < n) x[first + i] = v[i];
    }
}
