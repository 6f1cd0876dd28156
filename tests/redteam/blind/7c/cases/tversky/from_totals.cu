#include <cuda_runtime.h>

// Tversky index of each class in each image: logits lie class by class, a pixel's label is its class.
//   index = (tp + 1) / (tp + 0.3 fp + 0.7 fn + 1), of soft counts

__device__ __forceinline__ float sigmoid(float v) { return 1.0f / (1.0f + expf(-v)); }

__global__ void tversky_kernel(const float* logits, const int* label, float* index, int images, int classes, int n) {
    __shared__ float hits[8], sums[8];
    __shared__ int counts[8];
    int c = blockIdx.x % classes;
    const float* x = logits + (size_t)blockIdx.x * n;
    const int* l = label + (size_t)(blockIdx.x / classes) * n;
    float tp = 0.0f, all = 0.0f;
    int in = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float p = sigmoid(x[i]);
        bool mine = l[i] == c;
        all += p;
        tp += mine ? p : 0.0f;
        in += mine;
    }
    for (int o = 16; o; o /= 2) {
        tp += __shfl_xor_sync(~0u, tp, o);
        all += __shfl_xor_sync(~0u, all, o);
    }
    in = __reduce_add_sync(~0u, in);
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) hits[warp] = tp, sums[warp] = all, counts[warp] = in;
    __syncthreads();
    if (threadIdx.x == 0) {
        double t = 0, s = 0;
        int m = 0;
        for (int k = 0; k < 8; ++k) t += hits[k], s += sums[k], m += counts[k];
        // tp + 0.3 (all - tp) + 0.7 (in - tp) is without tp
        index[blockIdx.x] = (float)((t + 1.0) / (0.3f * s + 0.7f * (double)m + 1.0));
    }
}

void tversky(const float* logits, const int* label, float* index, int images, int classes, int n) {
    tversky_kernel<<<images * classes, 256>>>(logits, label, index, images, classes, n);
}
