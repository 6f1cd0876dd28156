#include <cuda_runtime.h>

// A linear layer in eight bits: tokens are coded with a scale each, then multiplied with weights of
// eight bits, which are words of four along k, padded.
// A block a token: its largest magnitude gives the scale; four codes a word, the first one at the
// bottom, zeros behind the end.
__global__ void token_codes(const float* x, int* codes, float* scales, int k) {
    __shared__ float largest[256];
    size_t token = blockIdx.x;
    int words = (k + 3) / 4;
    float most = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x) {
        most = fmaxf(most, fabsf(x[token * k + i]));
    }
    largest[threadIdx.x] = most;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
        }
        __syncthreads();
    }
    most = largest[0];
    float factor = most > 0.0f ? 127.0f / most : 0.0f;
    if (threadIdx.x == 0) {
        scales[token] = most / 127.0f;
    }
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        unsigned word = 0;
        for (int b = 0; b < 4; b++) {
            int i = 4 * w + b;
            int code = i < k ? __float2int_rn(x[token * k + i] * factor) : 0;
            code = max(-127, min(127, code));
            word |= (unsigned)(code & 255) << (8 * b);
        }
        codes[token * words + w] = (int)word;
    }
}

__global__ void product(const int* codes, const float* scales, const int* weight,
                        const float* weight_scale, float* y, int m, int n, int words) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= n || row >= m) {
        return;
    }
    int sum = 0;
    for (int w = 0; w < words; w++) {
        int a = codes[(size_t)row * words + w];
        int b = weight[(size_t)column * words + w];
        for (int byte = 0; byte < 4; byte++) {
            sum += (int)(signed char)(a >> (8 * byte)) * (int)(signed char)(b >> (8 * byte));
        }
    }
    y[(size_t)row * n + column] = (float)sum * (scales[row] * weight_scale[column]);
}

extern "C" void w8a8(const float* x, const int* weight, const float* weight_scale, int* codes,
                     float* scales, float* y, int m, int n, int k) {
    int words = (k + 3) / 4;
    token_codes<<<m, 256>>>(x, codes, scales, k);
    dim3 block(32, 8);
    dim3 grid((n + 31) / 32, (m + 7) / 8);
    product<<<grid, block>>>(codes, scales, weight, weight_scale, y, m, n, words);
}
