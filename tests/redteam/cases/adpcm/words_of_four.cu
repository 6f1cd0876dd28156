// IMA ADPCM: each block starts from its own predictor and step index; low nibble first.
// Four bytes are gathered into a word, eight nibbles are decoded from registers.
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

__global__ void adpcm(const unsigned char* code, const int* predictor, const int* index, float* pcm, int blocks,
                      int bytes) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= blocks) return;
    const unsigned char* row = code + (size_t)b * bytes;
    float* sound = pcm + (size_t)b * 2 * bytes;
    int value = predictor[b];
    int at = min(max(index[b], 0), 88);
    for (int base = 0; base < bytes; base += 4) {
        unsigned word;
        if (bytes % 4 == 0 && ((size_t)code & 3) == 0) {
            word = *(const unsigned*)(row + base);
        } else {
            word = row[base] | row[base + 1] << 8 | row[base + 2] << 16 | (unsigned)row[base + 3] << 24;
        }
        int count = min(8, 2 * (bytes - base));
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            int nibble = word >> 4 * k & 15;
            if (k < count) {
                value = min(max(value + moved(nibble, STEP[at]), -32768), 32767);
                at = min(max(at + turned(nibble), 0), 88);
                sound[2 * base + k] = value / 32768.0f;
            }
        }
    }
}
