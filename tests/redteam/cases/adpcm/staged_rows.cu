// IMA ADPCM: each block starts from its own predictor and step index; low nibble first.
// A thread to a block still; what is read and written goes through shared memory, in whole lines.
__constant__ int STEP[89] = {
    7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31,
    34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118, 130, 143,
    157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658,
    724, 796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024,
    3327, 3660, 4026, 4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10442, 11487, 12635, 13899,
    15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};

__device__ __forceinline__ int moved(int code, int step) {
    int diff = step >> 3;
    if (code & 4) diff += step;
    if (code & 2) diff += step >> 1;
    if (code & 1) diff += step >> 2;
    return code & 8 ? -diff : diff;
}

__device__ __forceinline__ int turned(int code) {
    return code & 4 ? 2 * (code & 3) + 2 : -1;
}

#define ROWS 128
#define BYTES 16

__global__ void adpcm(const unsigned char* code, const int* predictor, const int* index, float* pcm, int blocks,
                      int bytes) {
    __shared__ unsigned char packed[ROWS][BYTES + 4];
    __shared__ float sound[ROWS][2 * BYTES + 1];
    __shared__ int steps[89];
    int tid = threadIdx.x;
    int first = blockIdx.x * ROWS;
    int b = first + tid;
    if (tid < 89) steps[tid] = STEP[tid];
    int value = b < blocks ? predictor[b] : 0;
    int at = b < blocks ? min(max(index[b], 0), 88) : 0;
    for (int base = 0; base < bytes; base += BYTES) {
        int count = min(BYTES, bytes - base);
        for (int i = tid; i < ROWS * BYTES; i += ROWS) {
            int row = i / BYTES, col = i % BYTES;
            if (first + row < blocks && col < count) packed[row][col] = code[(size_t)(first + row) * bytes + base + col];
        }
        __syncthreads();
        if (b < blocks) {
            for (int c = 0; c < count; ++c) {
                int both = packed[tid][c];
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    int nibble = both >> 4 * k & 15;
                    value = min(max(value + moved(nibble, steps[at]), -32768), 32767);
                    at = min(max(at + turned(nibble), 0), 88);
                    sound[tid][2 * c + k] = value * (1.0f / 32768.0f);
                }
            }
        }
        __syncthreads();
        for (int i = tid; i < ROWS * 2 * BYTES; i += ROWS) {
            int row = i / (2 * BYTES), col = i % (2 * BYTES);
            if (first + row < blocks && col < 2 * count)
                pcm[((size_t)(first + row) * bytes + base) * 2 + col] = sound[row][col];
        }
    }
}
