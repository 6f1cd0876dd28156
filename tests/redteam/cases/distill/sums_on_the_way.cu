__device__ void take(float v, float& top, float& sum) {
    if (v > top) {
        sum = sum * expf(top - v) + 1.f;
        top = v;
    } else if (v > -INFINITY) {
        sum += expf(v - top);
    }
}

__device__ void join(float& top, float& sum, int d) {
    float other = __shfl_xor_sync(0xffffffffu, top, d), more = __shfl_xor_sync(0xffffffffu, sum, d);
    float both = fmaxf(top, other);
    sum = (top == both ? sum : sum * expf(top - both)) + (other == both ? more : more * expf(other - both));
    top = both;
}

// How far each row of students is from its row of teachers: the divergence of their softmax weights. A warp a
// row, which finds maximum and sum of both on one way, and the divergence on a second.
__global__ void distill(const float* teacher, const float* student, float* out, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const float *t = teacher + (size_t)r * cols, *s = student + (size_t)r * cols;
    float a = -INFINITY, b = -INFINITY, za = 0.f, zb = 0.f, cross = 0.f;
    for (int c = lane; c < cols; c += 32) {
        take(t[c], a, za);
        take(s[c], b, zb);
    }
    for (int d = 16; d; d /= 2) {
        join(a, za, d);
        join(b, zb, d);
    }
    for (int c = lane; c < cols; c += 32) cross += expf(t[c] - a) * ((t[c] - a) - (s[c] - b));
    for (int d = 16; d; d /= 2) cross += __shfl_xor_sync(0xffffffffu, cross, d);
    if (lane == 0) out[r] = cross / za - logf(za) + logf(zb);
}
