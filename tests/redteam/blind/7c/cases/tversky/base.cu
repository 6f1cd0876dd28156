#include <cuda_runtime.h>

// Tversky index of each class in each image: logits lie class by class, a pixel's label is its class.
//   index = (tp + 1) / (tp + 0.3 fp + 0.7 fn + 1), of soft counts

__device__ __forceinline__ float sigmoid(float v) { return 1.0f / (1.0f + expf(-v)); }

__device__ float block_sum(float v, float* part) {
    part[threadIdx.x] = v;
    __syncthreads();
    for (int o = blockDim.x / 2; o; o /= 2) {
        if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
        __syncthreads();
    }
    float sum = part[0];
    __syncthreads();
    return sum;
}

__global__ void tversky_kernel(const float* logits, const int* label, float* index, int images, int classes, int n) {
    __shared__ float part[256];
    int c = blockIdx.x % classes;
    const float* x = logits + (size_t)blockIdx.x * n;
    const int* l = label + (size_t)(blockIdx.x / classes) * n;
    float tp = 0.0f, fp = 0.0f, fn = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float p = sigmoid(x[i]);
        if (l[i] == c) {
            tp += p;
            fn += 1.0f - p;
        } else {
            fp += p;
        }
    }
    tp = block_sum(tp, part);
    fp = block_sum(fp, part);
    fn = block_sum(fn, part);
    if (threadIdx.x == 0) index[blockIdx.x] = (tp + 1.0f) / (tp + 0.3f * fp + 0.7f * fn + 1.0f);
}

void tversky(const float* logits, const int* label, float* index, int images, int classes, int n) {
    tversky_kernel<<<images * classes, 256>>>(logits, label, index, images, classes, n);
}
