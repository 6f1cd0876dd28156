// Bytes as text: two digits of sixteen each.
__global__ void hexes(const unsigned char* data, unsigned char* text, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    int high = data[i] >> 4, low = data[i] & 15;
    text[2 * i] = high < 10 ? '0' + high : 'a' + high - 10;
    text[2 * i + 1] = low < 10 ? '0' + low : 'a' + low - 10;
}
