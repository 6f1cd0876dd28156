__device__ float2 turned(float2 u, float2 v, float c, float s) {
    return make_float2(fmaf(s, v.y, c * u.x), fmaf(-s, v.x, c * u.y));
}

// A turn of one qubit about the x axis, in place: of each pair of amplitudes that differ in this qubit alone. A thread
// has two pairs that lie side by side.
__global__ void qubit(float2* state, int inner, int outer, float angle) {
    size_t all = (size_t)inner * outer, i = 2 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (i >= all) return;
    float c = cosf(angle / 2), s = sinf(angle / 2);
    size_t a = i / inner * 2 * inner + i % inner, b = a + inner;
    int many = all - i >= 2 ? 2 : 1;
    float2 u[2], v[2];
    for (int k = 0; k < many; ++k) u[k] = state[a + k], v[k] = state[b + k];
    for (int k = 0; k < many; ++k) {
        state[a + k] = turned(u[k], v[k], c, s);
        state[b + k] = turned(v[k], u[k], c, s);
    }
}
