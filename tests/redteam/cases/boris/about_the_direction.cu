// A particle's velocity (w: its charge by its mass) behind a step in a magnetic field (w: the electric one, upwards):
// half of the push, the turn, the other half.
__device__ float4 pushed(float4 v, float4 b, float step) {
    float h = 0.5f * step * v.w;
    v.z += h * b.w;
    // The turn is about the field's direction, by an angle with this tangent of its half.
    float bb = b.x * b.x + b.y * b.y + b.z * b.z, by = rsqrtf(bb), t = h * bb * by;
    float x = b.x * by, y = b.y * by, z = b.z * by, s = 2.f * t / (1.f + t * t);
    float px = v.x + t * (v.y * z - v.z * y), py = v.y + t * (v.z * x - v.x * z), pz = v.z + t * (v.x * y - v.y * x);
    v.x += s * (py * z - pz * y);
    v.y += s * (pz * x - px * z);
    v.z += s * (px * y - py * x) + h * b.w;
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

__global__ void boris(float4* pos, float4* vel, const float4* field, int n, float step) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) moves(pos, vel, field, i, step);
}
