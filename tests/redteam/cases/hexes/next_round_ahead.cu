__device__ unsigned digit(unsigned v) { return v < 10 ? '0' + v : 'a' + v - 10; }

__device__ unsigned digits(unsigned byte) { return digit(byte >> 4) | digit(byte & 15) << 8; }

// Bytes as text: two digits of sixteen each.
// Blocks stay; a thread has a byte of each round, and asks for the one of the next round before it writes.
__global__ void hexes(const unsigned char* data, unsigned char* text, int n) {
    size_t step = gridDim.x * (size_t)blockDim.x, i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    unsigned now = i < n ? data[i] : 0;
    for (; i < n; i += step) {
        unsigned next = *(const volatile unsigned char*)(data + i + step);
        unsigned two = digits(now);
        text[2 * i] = two & 255;
        text[2 * i + 1] = two >> 8;
        now = next;
    }
}
