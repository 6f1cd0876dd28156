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
    __shared__ int all[256], my[256], seen[256];
    __shared__ double es[256], vs[256];
    int gene = blockIdx.x, lane = threadIdx.x;
    const int* left = mine + (size_t)gene * span;
    const int* dead = mydeaths + (size_t)gene * span;
    int behind = 0, mybehind = 0, s = 0;
    double e = 0, v = 0;
    for (int last = span - 1; last >= 0; last -= 256) {
        int t = last - lane;
        all[lane] = t >= 0 ? leaving[t] : 0;
        my[lane] = t >= 0 ? left[t] : 0;
        __syncthreads();
        for (int k = 1; k < 256; k *= 2) {
            int a = lane >= k ? all[lane - k] : 0, m = lane >= k ? my[lane - k] : 0;
            __syncthreads();
            all[lane] += a;
            my[lane] += m;
            __syncthreads();
        }
        int d = t >= 0 ? deaths[t] : 0;
        if (d) {
            int risk = behind + all[lane], myrisk = mybehind + my[lane];
            s += dead[t];
            double p = (double)myrisk / risk;
            e += d * p;
            if (risk > 1) v += d * p * (1 - p) * (risk - d) / (risk - 1);
        }
        behind += all[255];
        mybehind += my[255];
        __syncthreads();
    }
    seen[lane] = s;
    es[lane] = e;
    vs[lane] = v;
    __syncthreads();
    for (int k = 128; k > 0; k /= 2) {
        if (lane < k) {
            seen[lane] += seen[lane + k];
            es[lane] += es[lane + k];
            vs[lane] += vs[lane + k];
        }
        __syncthreads();
    }
    if (lane == 0) {
        observed[gene] = seen[0];
        expected[gene] = (float)es[0];
        variance[gene] = (float)vs[0];
    }
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
    score<<<genes, 256>>>(leaving, deaths, mine, mydeaths, genes, span, observed, expected, variance);
    cudaFreeAsync(work, 0);
}
