// A turn of one qubit about the x axis, in place: of each pair of amplitudes that differ in this qubit alone.
__global__ void qubit(float2* state, int inner, int outer, float angle) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)inner * outer) return;
    size_t a = i / inner * 2 * inner + i % inner, b = a + inner;
    float c = cosf(angle / 2), s = sinf(angle / 2);
    float2 u = state[a], v = state[b];
    state[a] = make_float2(fmaf(s, v.y, c * u.x), fmaf(-s, v.x, c * u.y));
    state[b] = make_float2(fmaf(s, u.y, c * v.x), fmaf(-s, u.x, c * v.y));
}
