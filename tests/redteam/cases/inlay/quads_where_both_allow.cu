// a times x goes into the first columns of a wider matrix whose rows begin `stride` apart, plus b times
// what was there; where b is zero, what was there is not looked at. What lies between two rows stays.
__global__ void inlay(const float* x, float* y, int rows, int cols, int stride, float a, float b) {
    int wide = min(cols, stride);
    // Quads only where the rows of both are whole quads and begin at a boundary of 16 bytes.
    bool quads = (cols | stride) % 4 == 0 && ((size_t)x | (size_t)y) % 16 == 0;
    int c = (blockIdx.x * blockDim.x + threadIdx.x) * (quads ? 4 : 1);
    if (c >= wide) return;
    for (int r = blockIdx.y; r < rows; r += gridDim.y) {
        const float* from = x + (size_t)r * cols + c;
        float* to = y + (size_t)r * stride + c;
        if (quads) {
            float4 v = *(const float4*)from;
            v = {a * v.x, a * v.y, a * v.z, a * v.w};
            if (b != 0.f) {
                float4 was = *(float4*)to;
                v = {v.x + b * was.x, v.y + b * was.y, v.z + b * was.z, v.w + b * was.w};
            }
            *(float4*)to = v;
        } else {
            float v = a * *from;
            *to = b == 0.f ? v : v + b * *to;
        }
    }
}
