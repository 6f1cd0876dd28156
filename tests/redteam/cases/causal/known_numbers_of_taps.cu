// A filter that looks back: taps lie `gap` apart, every `stride`-th result is wanted.
template <int TAPS>
__device__ float filtered(const float* row, const float* w, int taps, int last, int gap) {
    float s = 0.f;
    auto add = [&](int j, int count) {
        int at = last - (count - 1 - j) * gap;
        if (at >= 0) s = fmaf(w[j], row[at], s);
    };
    if constexpr (TAPS > 0) {
#pragma unroll
        for (int j = 0; j < TAPS; ++j) add(j, TAPS);
    } else {
        for (int j = 0; j < taps; ++j) add(j, taps);
    }
    return s;
}

__global__ void causal(const float* x, const float* w, float* y, int len, int taps, int stride,
                       int gap) {
    int many = (len - 1) / stride + 1, t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= many) return;
    const float* row = x + (size_t)blockIdx.y * len;
    float s;
    switch (taps) {
        case 3: s = filtered<3>(row, w, taps, t * stride, gap); break;
        case 4: s = filtered<4>(row, w, taps, t * stride, gap); break;
        case 8: s = filtered<8>(row, w, taps, t * stride, gap); break;
        default: s = filtered<0>(row, w, taps, t * stride, gap);
    }
    y[(size_t)blockIdx.y * many + t] = s;
}
