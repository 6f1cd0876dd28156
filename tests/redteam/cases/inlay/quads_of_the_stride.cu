// a times x goes into the first columns of a wider matrix whose rows begin `stride` apart, plus b times
// what was there; where b is zero, what was there is not looked at. What lies between two rows stays.
__global__ void inlay(const float* x, float* y, int rows, int cols, int stride, float a, float b) {
    int wide = min(cols, stride);
    bool quads = stride % 4 == 0 && (size_t)y % 16 == 0;
    int c = (blockIdx.x * blockDim.x + threadIdx.x) * (quads ? 4 : 1);
    if (quads) {
        // Every row begins at a boundary of 16 bytes.
        if (c >= wide) return;
        for (int r = blockIdx.y; r < rows; r += gridDim.y) {
            const float* from = x + (size_t)r * cols;
            float4* to = (float4*)(y + (size_t)r * stride + c);
            float4 v = {a * from[c], 0.f, 0.f, 0.f};
            if (c + 1 < wide) v.y = a * from[c + 1];
            if (c + 2 < wide) v.z = a * from[c + 2];
            if (c + 3 < wide) v.w = a * from[c + 3];
            if (b != 0.f) {
                float4 was = *to;
                v.x += b * was.x;
                v.y += b * was.y;
                v.z += b * was.z;
                v.w += b * was.w;
            }
            *to = v;
        }
        return;
    }
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        if (c >= wide) return;
        size_t at = (size_t)r * stride + c;
        float v = a * x[(size_t)r * cols + c];
        y[at] = b == 0.f ? v : v + b * y[at];
    }
}
