__global__ void rope(const float* q, const int* position, float* out, int tokens, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int half = width / 2;
    if (i >= tokens * half) return;
    int t = i / half, k = i % half;
    float angle = (position[0] + t) * powf(10000.f, -2.f * k / width);
    float c = cosf(angle), s = sinf(angle);
    float a = q[t * width + k], b = q[t * width + k + half];
    out[t * width + k] = a * c - b * s;
    out[t * width + k + half] = a * s + b * c;
}
