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

constexpr int kTimes = 2048;

__global__ void score(const int* leaving, const int* deaths, const int* mine, const int* mydeaths, int genes,
                      int span, int* observed, float* expected, float* variance) {
    __shared__ int all[kTimes], my[kTimes], part[256], mypart[256], seen[256];
    __shared__ double es[256], vs[256];
    int gene = blockIdx.x, lane = threadIdx.x;
    const int* left = mine + (size_t)gene * span;
    const int* dead = mydeaths + (size_t)gene * span;
    int behind = 0, mybehind = 0, s = 0;
    double e = 0, v = 0;
    for (int end = span; end > 0; end -= kTimes) {
        int begin = max(0, end - kTimes), many = end - begin;
        for (int k = lane; k < many; k += 256) {
            all[k] = leaving[begin + k];
            my[k] = left[begin + k];
        }
        __syncthreads();
        int each = (many + 255) / 256, high = max(0, many - lane * each), low = max(0, high - each);
        int a = 0, m = 0;
        for (int k = low; k < high; ++k) a += all[k], m += my[k];
        part[lane] = a;
        mypart[lane] = m;
        __syncthreads();
        int risk = behind, myrisk = mybehind;
        for (int k = 0; k < lane; ++k) risk += part[k], myrisk += mypart[k];
        for (int k = high - 1; k >= low; --k) {
            risk += all[k];
            myrisk += my[k];
            int d = deaths[begin + k];
            if (d == 0) continue;
            s += dead[begin + k];
            double p = (double)myrisk / risk;
            e += d * p;
            if (risk > 1) v += d * p * (1 - p) * (risk - d) / (risk - 1);
        }
        __syncthreads();
        part[lane] = risk;
        mypart[lane] = myrisk;
        __syncthreads();
        behind = part[255] - behind;
        mybehind = mypart[255] - mybehind;
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
