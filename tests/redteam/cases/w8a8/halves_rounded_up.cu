#include <cuda_runtime.h>

// A linear layer in eight bits: tokens are coded with a scale each, then multiplied with weights of
// eight bits, which are words of four along k, padded.
// A block a token; the largest magnitude by shuffles, four values a load where rows allow it.
__global__ void token_codes(const float* x, int* codes, float* scales, int k) {
    __shared__ float largest[8];
    size_t token = blockIdx.x;
    const float* row = x + token * k;
    int words = (k + 3) / 4;
    bool vectors = ((size_t)row & 15) == 0;
    float most = 0.0f;
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        if (vectors && 4 * w + 4 <= k) {
            float4 v = *(const float4*)(row + 4 * w);
            most = fmaxf(most, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
        } else {
            for (int i = 4 * w; i < min(k, 4 * w + 4); i++) {
                most = fmaxf(most, fabsf(row[i]));
            }
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    }
    if ((threadIdx.x & 31) == 0) {
        largest[threadIdx.x >> 5] = most;
    }
    __syncthreads();
    most = largest[0];
    for (int i = 1; i < 8; i++) {
        most = fmaxf(most, largest[i]);
    }
    float factor = most > 0.0f ? 127.0f / most : 0.0f;
    if (threadIdx.x == 0) {
        scales[token] = most / 127.0f;
    }
    for (int w = threadIdx.x; w < words; w += blockDim.x) {
        float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int b = 0; b < 4; b++) {
            if (4 * w + b < k) {
                v[b] = row[4 * w + b];
            }
        }
        unsigned word = 0;
        for (int b = 0; b < 4; b++) {
            int code = 4 * w + b < k ? (int)roundf(v[b] * factor) : 0;
            code = max(-127, min(127, code));
            word |= (unsigned)(code & 255) << (8 * b);
        }
        codes[token * words + w] = (int)word;
    }
}

// Tiles of 32 tokens by 32 columns, 32 words of each at a time.
__global__ void product(const int* codes, const float* scales, const int* weight,
                        const float* weight_scale, float* y, int m, int n, int words) {
    __shared__ int a[32][33];
    __shared__ int b[32][33];
    int left = blockIdx.x * 32;
    int top = blockIdx.y * 32;
    int sum[4] = {0, 0, 0, 0};
    for (int from = 0; from < words; from += 32) {
        int w = from + threadIdx.x;
        for (int r = threadIdx.y; r < 32; r += 8) {
            a[r][threadIdx.x] = top + r < m && w < words ? codes[(size_t)(top + r) * words + w] : 0;
            b[r][threadIdx.x] =
                left + r < n && w < words ? weight[(size_t)(left + r) * words + w] : 0;
        }
        __syncthreads();
        for (int i = 0; i < 32; i++) {
            int right = b[threadIdx.x][i];
            for (int r = 0; r < 4; r++) {
                sum[r] = __dp4a(a[threadIdx.y + 8 * r][i], right, sum[r]);
            }
        }
        __syncthreads();
    }
    int column = left + threadIdx.x;
    for (int r = 0; r < 4; r++) {
        int row = top + threadIdx.y + 8 * r;
        if (row < m && column < n) {
            y[(size_t)row * n + column] = (float)sum[r] * (scales[row] * weight_scale[column]);
        }
    }
}

extern "C" void w8a8(const float* x, const int* weight, const float* weight_scale, int* codes,
                     float* scales, float* y, int m, int n, int k) {
    int words = (k + 3) / 4;
    token_codes<<<m, 256>>>(x, codes, scales, k);
    dim3 block(32, 8);
    dim3 grid((n + 31) / 32, (m + 31) / 32);
    product<<<grid, block>>>(codes, scales, weight, weight_scale, y, m, n, words);
}
