// Four bytes a step, with four tables; a table follows from the one before it and the first.
__global__ void crcs(const unsigned char* __restrict__ data, unsigned* __restrict__ out,
                     int records, int length) {
    __shared__ unsigned table[4][256];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = i;
        for (int k = 0; k < 8; ++k) c = c & 1u ? c >> 1 ^ 0xedb88320u : c >> 1;
        table[0][i] = c;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        unsigned c = table[0][i];
        for (int k = 1; k < 4; ++k) {
            c = c >> 8 ^ table[0][c & 255u];
            table[k][i] = c;
        }
    }
    __syncthreads();
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= records) return;
    const unsigned char* p = data + (size_t)r * length;
    unsigned crc = 0xffffffffu;
    for (int i = 0; i < length / 4 * 4; i += 4) {
        crc ^= p[i] | p[i + 1] << 8 | p[i + 2] << 16 | (unsigned)p[i + 3] << 24;
        crc = table[3][crc & 255u] ^ table[2][crc >> 8 & 255u] ^ table[1][crc >> 16 & 255u] ^
              table[0][crc >> 24];
    }
    out[r] = ~crc;
}
