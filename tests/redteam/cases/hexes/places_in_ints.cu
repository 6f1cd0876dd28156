__device__ unsigned digit(unsigned v) { return v < 10 ? '0' + v : 'a' + v - 10; }

__device__ unsigned digits(unsigned byte) { return digit(byte >> 4) | digit(byte & 15) << 8; }

// Bytes as text: two digits of sixteen each.
// Blocks stay, and a thread has a byte of each round.
__global__ void hexes(const unsigned char* data, unsigned char* text, int n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int at = 2 * i;
        unsigned two = digits(data[i]);
        text[at] = two & 255;
        text[at + 1] = two >> 8;
    }
}
