__device__ unsigned char letter(unsigned six) {
    if (six < 26) return 'A' + six;
    if (six < 52) return 'a' + six - 26;
    if (six < 62) return '0' + six - 52;
    return six == 62 ? '+' : '/';
}
// Three bytes as four letters; what is missing at the end is told by '='.
__global__ void base64(const unsigned char* data, unsigned char* text, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (3 * i >= n) return;
    int left = n - 3 * i;
    unsigned bits = data[3 * i] << 16;
    if (left > 1) bits |= data[3 * i + 1] << 8;
    if (left > 2) bits |= data[3 * i + 2];
    text[4 * i] = letter(bits >> 18);
    text[4 * i + 1] = letter(bits >> 12 & 63);
    text[4 * i + 2] = left > 1 ? letter(bits >> 6 & 63) : '=';
    text[4 * i + 3] = left > 2 ? letter(bits & 63) : '=';
}
