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
    float m = -INFINITY;
    for (int j = threadIdx.x; j < c; j += TPB) m = fmaxf(m, row[j]);
    m = block_max(m, s);
    float a = 0.0f;
    for (int j = threadIdx.x; j < c; j += TPB) a += expf(row[j] - m);
    a = block_sum(a, s);
    if (threadIdx.x == 0) {
        int y = label[blockIdx.x];
        top[blockIdx.x] = m;
        total[blockIdx.x] = a;
        nll[blockIdx.x] = y >= 0 && y < c ? logf(a) + m - row[y] : 0.0f;
    }
}

__device__ double weights;

// The weights of the batch: needed by the gradient, but independent of the logits.
__global__ void fold_weights(const int* __restrict__ label, const float* __restrict__ weight, int n, int c) {
    __shared__ double sw[TPB];
    __shared__ int sn[TPB];
    int t = threadIdx.x, valid = 0;
    double aw = 0.0;
    for (int i = t; i < n; i += TPB) {
        int y = label[i];
        if (y < 0 || y >= c) continue;
        aw += weight[y];
        ++valid;
    }
    sw[t] = aw;
    sn[t] = valid;
    __syncthreads();
    for (int k = TPB / 2; k > 0; k >>= 1) {
        if (t < k) {
            sw[t] += sw[t + k];
            sn[t] += sn[t + k];
        }
        __syncthreads();
    }
    if (t == 0) {
        weights = sw[0];
        scale = sw[0] > 0.0 ? (float)(sn[0] / sw[0]) : 0.0f;
    }
}

__global__ void fold_loss(const int* __restrict__ label, const float* __restrict__ weight, const float* __restrict__ nll,
                          int n, int c, float* loss) {
    __shared__ double sl[TPB];
    int t = threadIdx.x;
    double al = 0.0;
    for (int i = t; i < n; i += TPB) {
        int y = label[i];
        if (y < 0 || y >= c) continue;
        al += (double)weight[y] * nll[i];
    }
    sl[t] = al;
    __syncthreads();
    for (int k = TPB / 2; k > 0; k >>= 1) {
        if (t < k) sl[t] += sl[t + k];
        __syncthreads();
    }
    if (t == 0) loss[0] = weights > 0.0 ? (float)(sl[0] / weights) : 0.0f;
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
    static float* stats = nullptr;
    static int room = 0;
    if (n > room) {
        cudaDeviceSynchronize();
        cudaFree(stats);
        cudaMalloc(&stats, (size_t)n * 3 * sizeof(float));
        room = n;
    }
    float *top = stats, *total = stats + n, *nll = stats + 2 * (size_t)n;
    static cudaStream_t side = nullptr;
    static cudaEvent_t begun, done, rows;
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&rows, cudaEventDisableTiming);
    }
    // The sums over labels run beside the row statistics, the loss beside the gradient.
    cudaEventRecord(begun, 0);
    cudaStreamWaitEvent(side, begun, 0);
    fold_weights<<<1, TPB, 0, side>>>(label, weight, n, c);
    cudaEventRecord(done, side);
    row_stats<<<n, TPB>>>(x, label, c, top, total, nll);
    cudaEventRecord(rows, 0);
    cudaStreamWaitEvent(side, rows, 0);
    cudaStreamWaitEvent(0, done, 0);
    gradient<<<n, TPB>>>(x, label, weight, top, total, c, grad);
    fold_loss<<<1, TPB, 0, side>>>(label, weight, nll, n, c, loss);
}
