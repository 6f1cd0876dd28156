// Two substances that react and spread on a torus: `reaction WIDTH HEIGHT STEPS`.
#include <cstdio>
#include <cstdlib>
#include <vector>

__global__ void seed(float* u, float* v, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    unsigned r = (y * w + x) * 2654435761u;
    r ^= r >> 15;
    bool drop = (x / 5 + y / 3) % 4 == 0;
    u[y * w + x] = drop ? 0.5f : 1.f;
    v[y * w + x] = (drop ? 0.25f : 0.f) + (r & 1023) * 1e-4f;
}

__global__ void step(const float* u, const float* v, float* u2, float* v2, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int at = y * w + x;
    int left = (x + w - 1) % w, right = (x + 1) % w, up = (y + h - 1) % h, down = (y + 1) % h;
    float su = u[at], sv = v[at];
    float lu = u[y * w + left] + u[y * w + right] + u[up * w + x] + u[down * w + x] - 4.f * su;
    float lv = v[y * w + left] + v[y * w + right] + v[up * w + x] + v[down * w + x] - 4.f * sv;
    float uvv = su * sv * sv;
    u2[at] = su + 0.16f * lu - uvv + 0.035f * (1.f - su);
    v2[at] = sv + 0.08f * lv + uvv - 0.095f * sv;
}

int main(int argc, char** argv) {
    int w = argc > 1 ? atoi(argv[1]) : 200, h = argc > 2 ? atoi(argv[2]) : 150;
    int steps = argc > 3 ? atoi(argv[3]) : 20, count = w * h;
    float *u, *v, *u2, *v2;
    cudaMalloc(&u, count * sizeof(float));
    cudaMalloc(&v, count * sizeof(float));
    cudaMalloc(&u2, count * sizeof(float));
    cudaMalloc(&v2, count * sizeof(float));
    seed<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(u, v, w, h);
    dim3 block(32, 8), grid((w + 31) / 32, (h + 7) / 8);
    for (int s = 0; s < steps; ++s) {
        step<<<grid, block>>>(u, v, u2, v2, w, h);
        float* t = u;
        u = u2, u2 = t;
        t = v;
        v = v2, v2 = t;
    }
    std::vector<float> a(count), b(count);
    cudaMemcpy(a.data(), u, count * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpy(b.data(), v, count * sizeof(float), cudaMemcpyDeviceToHost);
    double sum = 0., other = 0.;
    for (int i = 0; i < count; ++i) sum += a[i], other += b[i];
    printf("u %.3f v %.3f\n", sum / count, other / count);
    cudaFree(u);
    cudaFree(v);
    cudaFree(u2);
    cudaFree(v2);
    return 0;
}
