__global__ void rowadd(const int* index, const float* src, float* out, int n, int width, float alpha) {
    int t = blockIdx.x * blockDim.x + threadIdx.x, quads = (width + 3) / 4;
    int i = t / quads, c = t % quads * 4;
    if (i >= n) return;
    const float* from = src + (size_t)i * width + c;
    float* to = out + (size_t)index[i] * width + c;
    if (width % 4 == 0 && (((size_t)src | (size_t)out) & 15) == 0) {
        float4 v = *(const float4*)from;
        atomicAdd((float4*)to, make_float4(alpha * v.x, alpha * v.y, alpha * v.z, alpha * v.w));
    } else {
        for (int k = 0; k < 4 && c + k < width; ++k) atomicAdd(to + k, alpha * from[k]);
    }
}
