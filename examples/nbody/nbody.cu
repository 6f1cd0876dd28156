// Gravitational n-body simulation, all pairs, leapfrog steps.
//
//     nvcc -O3 -o nbody nbody.cu && ./nbody 8192 4
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                                   \
    do {                                                                              \
        cudaError_t e = (call);                                                       \
        if (e != cudaSuccess) {                                                       \
            std::fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(e), \
                         __LINE__);                                                   \
            std::exit(2);                                                             \
        }                                                                             \
    } while (0)

struct Body {
    float x, y, z;
    float vx, vy, vz;
    float mass;
};

const float G = 6.674e-3f;
const float SOFTENING = 1e-2f;

// Sums the acceleration that all bodies exert on body i.
__global__ void compute_forces(const Body *bodies, float *ax, float *ay, float *az, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;

    ax[i] = 0.0f;
    ay[i] = 0.0f;
    az[i] = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = bodies[j].x - bodies[i].x;
        float dy = bodies[j].y - bodies[i].y;
        float dz = bodies[j].z - bodies[i].z;
        float dist2 = dx * dx + dy * dy + dz * dz + SOFTENING;
        float f = G * bodies[j].mass / powf(dist2, 1.5f);
        ax[i] += f * dx;
        ay[i] += f * dy;
        az[i] += f * dz;
    }
}

__global__ void move_bodies(Body *bodies, const float *ax, const float *ay, const float *az,
                            float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        bodies[i].vx += ax[i] * dt;
        bodies[i].vy += ay[i] * dt;
        bodies[i].vz += az[i] * dt;
        bodies[i].x += bodies[i].vx * dt;
        bodies[i].y += bodies[i].vy * dt;
        bodies[i].z += bodies[i].vz * dt;
    }
}

static float random_unit(unsigned int *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) / 16777216.0f;
}

static double momentum_x(const std::vector<Body> &bodies)
{
    double p = 0.0;
    for (const Body &b : bodies) p += (double)b.mass * b.vx;
    return p;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? std::atoi(argv[1]) : 8192;
    int steps = argc > 2 ? std::atoi(argv[2]) : 4;
    const float dt = 0.01f;

    std::vector<Body> bodies(n);
    unsigned int seed = 42;
    for (Body &b : bodies) {
        b.x = 2.0f * random_unit(&seed) - 1.0f;
        b.y = 2.0f * random_unit(&seed) - 1.0f;
        b.z = 2.0f * random_unit(&seed) - 1.0f;
        b.vx = b.vy = b.vz = 0.0f;
        b.mass = 0.5f + random_unit(&seed);
    }

    Body *d_bodies;
    float *d_ax, *d_ay, *d_az;
    CHECK(cudaMalloc(&d_bodies, n * sizeof(Body)));
    CHECK(cudaMalloc(&d_ax, n * sizeof(float)));
    CHECK(cudaMalloc(&d_ay, n * sizeof(float)));
    CHECK(cudaMalloc(&d_az, n * sizeof(float)));
    CHECK(cudaMemcpy(d_bodies, bodies.data(), n * sizeof(Body), cudaMemcpyHostToDevice));

    int block = 256;
    int grid = (n + block - 1) / block;
    for (int s = 0; s < steps; s++) {
        compute_forces<<<grid, block>>>(d_bodies, d_ax, d_ay, d_az, n);
        move_bodies<<<grid, block>>>(d_bodies, d_ax, d_ay, d_az, dt, n);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaMemcpy(bodies.data(), d_bodies, n * sizeof(Body), cudaMemcpyDeviceToHost));

    // action equals reaction: the total momentum stays close to zero
    double p = momentum_x(bodies);
    bool ok = std::isfinite(p) && std::fabs(p) < 1e-2 * n;
    std::printf("%d bodies, %d steps: %s\n", n, steps, ok ? "PASS" : "FAIL");

    cudaFree(d_bodies);
    cudaFree(d_ax);
    cudaFree(d_ay);
    cudaFree(d_az);
    return ok ? 0 : 1;
}
