// Turns from one attitude to the other, the shorter way, the part t of it; beyond 1 the turn goes on, before 0 it
// goes back. Who has no length is no turn.
__device__ float along(float4 a, float4 b) { return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, __fmul_rn(a.x, b.x)))); }

__device__ float4 unitised(float4 q) {
    float square = along(q, q);
    if (square == 0.f) return make_float4(0.f, 0.f, 0.f, 1.f);
    float by = __fdiv_rn(1.f, __fsqrt_rn(square));
    return make_float4(q.x * by, q.y * by, q.z * by, q.w * by);
}

__global__ void slerp(const float4* from, const float4* to, float4* out, int n, float t) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = unitised(__ldg(from + i)), b = unitised(__ldg(to + i));
    float d = along(a, b), sign = d < 0.f ? -1.f : 1.f, part = __saturatef(t), u = 1.f - part, v = part;
    d = fabsf(d);
    if (d < 0.99999f) {
        float angle = acosf(d), by = 1.f / sinf(angle);
        u = by * sinf((1.f - part) * angle);
        v = by * sinf(part * angle);
    }
    v *= sign;
    out[i] = make_float4(u * a.x + v * b.x, u * a.y + v * b.y, u * a.z + v * b.z, u * a.w + v * b.w);
}
