__device__ float2 turned(float2 u, float2 v, float c, float s) {
    return make_float2(fmaf(s, v.y, c * u.x), fmaf(-s, v.x, c * u.y));
}

// A turn of one qubit about the x axis, in place: of each pair of amplitudes that differ in this qubit alone. A thread
// has two pairs, and loads them together where they lie so.
__global__ void qubit(float2* state, int inner, int outer, float angle) {
    size_t all = (size_t)inner * outer, i = 2 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (i >= all) return;
    float c = cosf(angle / 2), s = sinf(angle / 2);
    if (inner % 2 == 0 && (size_t)state % 16 == 0) {
        size_t a = i / inner * 2 * inner + i % inner, b = a + inner;
        float4 u = *(float4*)(state + a), v = *(float4*)(state + b);
        float2 u0 = make_float2(u.x, u.y), u1 = make_float2(u.z, u.w);
        float2 v0 = make_float2(v.x, v.y), v1 = make_float2(v.z, v.w);
        float2 p = turned(u0, v0, c, s), q = turned(u1, v1, c, s);
        *(float4*)(state + a) = make_float4(p.x, p.y, q.x, q.y);
        p = turned(v0, u0, c, s), q = turned(v1, u1, c, s);
        *(float4*)(state + b) = make_float4(p.x, p.y, q.x, q.y);
        return;
    }
    for (size_t k = i; k < i + 2 && k < all; ++k) {
        size_t a = k / inner * 2 * inner + k % inner, b = a + inner;
        float2 u = state[a], v = state[b];
        state[a] = turned(u, v, c, s);
        state[b] = turned(v, u, c, s);
    }
}
