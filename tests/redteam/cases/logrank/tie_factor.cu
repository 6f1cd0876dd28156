#include <cuda_runtime.h>
#include <cstdint>

// Log-rank statistics of many splits of the same patients: for each gene, which patients express it, the deaths
// seen among those, the deaths expected, and their hypergeometric variance, over all times of death.

__global__ void everybody(const int* time, const uint8_t* event, int n, int* leaving, int* deaths) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&leaving[time[i]], 1);
    if (event[i]) atomicAdd(&deaths[time[i]], 1);
}

__global__ void carriers(const int* time, const uint8_t* event, const uint8_t* group, int n, int span,
                         int* leaving, int* deaths) {
    int gene = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || !group[(size_t)gene * n + i]) return;
    atomicAdd(&leaving[(size_t)gene * span + time[i]], 1);
    if (event[i]) atomicAdd(&deaths[(size_t)gene * span + time[i]], 1);
}

__global__ void score(const int* leaving, const int* deaths, const int* mine, const int* mydeaths, int genes,
                      int span, int* observed, float* expected, float* variance) {
    int gene = blockIdx.x * blockDim.x + threadIdx.x;
    if (gene >= genes) return;
    const int* left = mine + (size_t)gene * span;
    const int* dead = mydeaths + (size_t)gene * span;
    int risk = 0, myrisk = 0, seen = 0;
    double e = 0, v = 0;
    for (int t = span - 1; t >= 0; --t) {
        risk += leaving[t];
        myrisk += left[t];
        int d = deaths[t];
        if (d == 0) continue;
        seen += dead[t];
        double p = (double)myrisk / risk;
        e += d * p;
        v += d * p * (1 - p) * (1 - (double)(d - 1) / max(risk - 1, 1));
    }
    observed[gene] = seen;
    expected[gene] = (float)e;
    variance[gene] = (float)v;
}

void logrank(const int* time, const uint8_t* event, const uint8_t* group, int* observed, float* expected,
             float* variance, int n, int genes, int span) {
    int* work;
    size_t slots = (size_t)(genes + 1) * span;
    cudaMallocAsync(&work, 2 * slots * sizeof(int), 0);
    cudaMemsetAsync(work, 0, 2 * slots * sizeof(int), 0);
    int* leaving = work;
    int* deaths = leaving + span;
    int* mine = deaths + span;
    int* mydeaths = mine + (size_t)genes * span;
    everybody<<<(n + 255) / 256, 256>>>(time, event, n, leaving, deaths);
    carriers<<<dim3((n + 255) / 256, genes), 256>>>(time, event, group, n, span, mine, mydeaths);
    score<<<(genes + 31) / 32, 32>>>(leaving, deaths, mine, mydeaths, genes, span, observed, expected, variance);
    cudaFreeAsync(work, 0);
}
