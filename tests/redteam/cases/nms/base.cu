// Which later boxes (left, top, width, height) a box covers by more than half of their union: 64 to a word.
__global__ void nms(const int* box, unsigned long long* mask, int n) {
    int i = blockIdx.y * 64 + threadIdx.x, word = blockIdx.x, words = (n + 63) / 64;
    if (i >= n) return;
    int x = box[4 * i], y = box[4 * i + 1], w = box[4 * i + 2], h = box[4 * i + 3];
    unsigned long long bits = 0;
    for (int k = 0; k < 64; ++k) {
        int j = 64 * word + k;
        if (j >= n || j <= i) continue;
        const int* other = box + 4 * (size_t)j;
        int wide = min(x + w, other[0] + other[2]) - max(x, other[0]);
        int high = min(y + h, other[1] + other[3]) - max(y, other[1]);
        int both = max(wide, 0) * max(high, 0);
        if (2 * both > w * h + other[2] * other[3] - both) bits |= 1ull << k;
    }
    mask[(size_t)i * words + word] = bits;
}
