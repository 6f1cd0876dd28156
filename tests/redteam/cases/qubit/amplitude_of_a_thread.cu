// A turn of one qubit about the x axis, in place. An amplitude and its partner are changed in the same way, so that
// each has a thread of its own, and no index has to be divided twice.
__global__ void qubit(float2* state, int inner, int outer, float angle) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)inner * outer * 2) return;
    size_t other = i / inner % 2 ? i - inner : i + inner;
    float c = cosf(angle / 2), s = sinf(angle / 2);
    float2 u = state[i], v = state[other];
    state[i] = make_float2(fmaf(s, v.y, c * u.x), fmaf(-s, v.x, c * u.y));
}
