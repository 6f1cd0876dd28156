#include <cuda_runtime.h>

// Tversky index of each class in each image: logits lie class by class, a pixel's label is its class.
//   index = (tp + 1) / (tp + 0.3 fp + 0.7 fn + 1), of soft counts

__device__ __forceinline__ float sigmoid(float v) { return 1.0f / (1.0f + expf(-v)); }

__global__ void tversky_kernel(const float* logits, const int* label, float* index, int images, int classes, int n) {
    __shared__ float2 part[8];
    int c = blockIdx.x % classes;
    const float* x = logits + (size_t)blockIdx.x * n;
    const int* l = label + (size_t)(blockIdx.x / classes) * n;
    float tp = 0.0f, rest = 0.0f;
    if (n % 4 == 0) {
        for (int i = threadIdx.x; i < n / 4; i += blockDim.x) {
            float4 v = reinterpret_cast<const float4*>(x)[i];
            int4 k = reinterpret_cast<const int4*>(l)[i];
            float a = sigmoid(v.x), b = sigmoid(v.y), d = sigmoid(v.z), e = sigmoid(v.w);
            tp += (k.x == c ? a : 0.0f) + (k.y == c ? b : 0.0f) + ((k.z == c ? d : 0.0f) + (k.w == c ? e : 0.0f));
            rest += (k.x == c ? 0.7f * (1.0f - a) : 0.3f * a) + (k.y == c ? 0.7f * (1.0f - b) : 0.3f * b) +
                    ((k.z == c ? 0.7f * (1.0f - d) : 0.3f * d) + (k.w == c ? 0.7f * (1.0f - e) : 0.3f * e));
        }
    } else {
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            float p = sigmoid(x[i]);
            bool in = l[i] == c;
            tp += in ? p : 0.0f;
            rest += in ? 0.7f * (1.0f - p) : 0.3f * p;
        }
    }
    for (int o = 16; o; o /= 2) {
        tp += __shfl_down_sync(~0u, tp, o);
        rest += __shfl_down_sync(~0u, rest, o);
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(tp, rest);
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; ++k) tp += part[k].x, rest += part[k].y;
        index[blockIdx.x] = (tp + 1.0f) / (tp + rest + 1.0f);
    }
}

void tversky(const float* logits, const int* label, float* index, int images, int classes, int n) {
    tversky_kernel<<<images * classes, 256>>>(logits, label, index, images, classes, n);
}
