// A checksum of 32 bits for each record, bit by bit.
__global__ void crcs(const unsigned char* data, unsigned* out, int records, int length) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= records) return;
    unsigned crc = 0xffffffffu;
    for (int i = 0; i < length; ++i) {
        crc ^= data[(size_t)r * length + i];
        for (int k = 0; k < 8; ++k) crc = crc & 1u ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    out[r] = ~crc;
}
