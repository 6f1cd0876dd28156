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

__device__ void moves(float4* pos, float4* vel, const float4* field, size_t i, float step) {
    float4 v = pushed(vel[i], field[i], step), p = pos[i];
    p.x += step * v.x;
    p.y += step * v.y;
    p.z += step * v.z;
    pos[i] = p;
    vel[i] = v;
}

// Two particles a thread: one of the first half, and its neighbour of the second.
__global__ void boris(float4* pos, float4* vel, const float4* field, int n, float step) {
    size_t half = n / 2, i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (n == 1 && i == 0) moves(pos, vel, field, 0, step);
    if (i >= half) return;
    moves(pos, vel, field, i, step);
    moves(pos, vel, field, i + half, step);
}
