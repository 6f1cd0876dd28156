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

// labels in unsigned shorts, so that every class reads less of them
__global__ void narrow(const int* label, unsigned short* narrowed, size_t total) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) narrowed[i] = (unsigned short)label[i];
}

__global__ void tversky_kernel(const float* logits, const unsigned short* label, float* index, int images, int classes, int n) {
    __shared__ float part[256];
    int c = blockIdx.x % classes;
    const float* x = logits + (size_t)blockIdx.x * n;
    const unsigned short* l = label + (size_t)(blockIdx.x / classes) * n;
    float tp = 0.0f, fp = 0.0f, fn = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float p = sigmoid(x[i]);
        if (l[i] == (unsigned short)c) {
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
    size_t total = (size_t)images * n;
    unsigned short* narrowed;
    cudaMallocAsync(&narrowed, total * sizeof(unsigned short), 0);
    narrow<<<(unsigned)((total + 255) / 256), 256>>>(label, narrowed, total);
    tversky_kernel<<<images * classes, 256>>>(logits, narrowed, index, images, classes, n);
    cudaFreeAsync(narrowed, 0);
}
