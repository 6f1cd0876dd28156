// Atoms in a periodic box that attract and repel each other; forces add up in fixed point, so that their order
// does not matter: `argon ATOMS STEPS`.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>
#define UNIT 16777216.f

typedef unsigned long long Sum;

// The force on an atom at p of the nearest image of one at q.
__device__ bool pulled(float3 p, float3 q, float box, float3* force) {
    float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
    dx -= box * rintf(dx / box);
    dy -= box * rintf(dy / box);
    dz -= box * rintf(dz / box);
    float square = dx * dx + dy * dy + dz * dz;
    if (square >= 6.25f || square == 0.f) return false;
    float s = 1.f / square, s3 = s * s * s, m = UNIT * 24.f * s * s3 * (2.f * s3 - 1.f);
    *force = make_float3(m * dx, m * dy, m * dz);
    return true;
}

__global__ void forces(const float3* at, Sum* force, int n, float box) {
    // Each pair once: what pulls the one pulls the other back.
    int i = blockIdx.x * blockDim.x + threadIdx.x, each = (n + 3) / 4, from = blockIdx.y * each;
    if (i >= n) return;
    float3 p = at[i], f;
    long long x = 0, y = 0, z = 0;
    for (int j = max(from, i + 1); j < min(from + each, n); ++j) {
        if (!pulled(p, at[j], box, &f)) continue;
        long long fx = llrintf(f.x), fy = llrintf(f.y), fz = llrintf(f.z);
        x += fx, y += fy, z += fz;
        force[j * 3] -= (Sum)fx;
        force[j * 3 + 1] -= (Sum)fy;
        force[j * 3 + 2] -= (Sum)fz;
    }
    atomicAdd(&force[i * 3], (Sum)x);
    atomicAdd(&force[i * 3 + 1], (Sum)y);
    atomicAdd(&force[i * 3 + 2], (Sum)z);
}

__global__ void moved(float3* at, float3* speed, const long long* force, int n, float box, float step) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = at[i], v = speed[i];
    v.x += force[i * 3] / UNIT * step;
    v.y += force[i * 3 + 1] / UNIT * step;
    v.z += force[i * 3 + 2] / UNIT * step;
    p.x += v.x * step, p.y += v.y * step, p.z += v.z * step;
    at[i] = make_float3(p.x - box * floorf(p.x / box), p.y - box * floorf(p.y / box), p.z - box * floorf(p.z / box));
    speed[i] = v;
}

int main(int argc, char** argv) {
    int n = argc > 1 ? atoi(argv[1]) : 3000, steps = argc > 2 ? atoi(argv[2]) : 8, side = 1;
    while (side * side * side < n) ++side;
    float box = 1.1f * side;
    std::vector<float3> at(n), speed(n, make_float3(0.f, 0.f, 0.f));
    unsigned state = 3;
    for (int i = 0; i < n; ++i) {
        float by[3];
        for (float& b : by) b = ((state = state * 1664525u + 1013904223u) >> 16) / 65536.f * 0.3f;
        at[i] = make_float3(i % side * 1.1f + by[0], i / side % side * 1.1f + by[1], i / side / side * 1.1f + by[2]);
    }
    float3 *dat, *dspeed;
    Sum* force;
    cudaMalloc(&dat, n * sizeof(float3));
    cudaMalloc(&dspeed, n * sizeof(float3));
    cudaMalloc(&force, 3 * n * sizeof(Sum));
    cudaMemcpy(dat, at.data(), n * sizeof(float3), cudaMemcpyHostToDevice);
    cudaMemcpy(dspeed, speed.data(), n * sizeof(float3), cudaMemcpyHostToDevice);
    for (int s = 0; s < steps; ++s) {
        cudaMemset(force, 0, 3 * n * sizeof(Sum));
        forces<<<dim3((n + 127) / 128, 4), 128>>>(dat, force, n, box);
        moved<<<(n + 127) / 128, 128>>>(dat, dspeed, (const long long*)force, n, box, 0.0005f);
    }
    cudaMemcpy(at.data(), dat, n * sizeof(float3), cudaMemcpyDeviceToHost);
    cudaMemcpy(speed.data(), dspeed, n * sizeof(float3), cudaMemcpyDeviceToHost);
    double energy = 0;
    for (float3 v : speed) energy += 0.5 * ((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
    printf("first atom at %.4f, energy of motion %.4f\n", at[0].x, energy / n);
    cudaFree(dat);
    cudaFree(dspeed);
    cudaFree(force);
    return 0;
}
