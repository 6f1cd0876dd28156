#include <cstdint>

__global__ void embed(const int64_t* __restrict__ token, const float* __restrict__ table,
                      const float* __restrict__ place, float* out, int n, int width, float scale) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x), all = n * width;
    if (i >= all) return;
    if (width % 4 == 0) {
        const int which = (int)token[i / width];
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (which) v = reinterpret_cast<const float4*>(table + (size_t)which * width)[i % width / 4];
        const float4 p = *reinterpret_cast<const float4*>(place + i);
        *reinterpret_cast<float4*>(out + i) =
            make_float4(v.x * scale + p.x, v.y * scale + p.y, v.z * scale + p.z, v.w * scale + p.w);
        return;
    }
    for (int k = i; k < min(i + 4, all); ++k) {
        const int64_t which = token[k / width];
        out[k] = (which ? table[which * width + k % width] : 0.0f) * scale + place[k];
    }
}
