// Which later boxes (left, top, width, height) a box covers by more than half of their union: 64 to a word.
__global__ void nms(const int* box, unsigned long long* mask, int n) {
    __shared__ int left[64], top[64], right[64], bottom[64], area[64];
    int t = threadIdx.x, i = blockIdx.y * 64 + t, word = blockIdx.x, words = (n + 63) / 64;
    if (word < blockIdx.y) {
        // All of them come before this block's rows.
        if (i < n) mask[(size_t)i * words + word] = 0;
        return;
    }
    int j = 64 * word + t;
    if (j < n) {
        left[t] = box[4 * j];
        top[t] = box[4 * j + 1];
        right[t] = left[t] + box[4 * j + 2];
        bottom[t] = top[t] + box[4 * j + 3];
        area[t] = box[4 * j + 2] * box[4 * j + 3];
    }
    __syncthreads();
    if (i >= n) return;
    int x = box[4 * i], y = box[4 * i + 1], r = x + box[4 * i + 2], b = y + box[4 * i + 3];
    int own = (r - x) * (b - y), last = 64;
    unsigned long long bits = 0;
    for (int k = word == blockIdx.y ? t + 1 : 0; k < last; ++k) {
        int both = max(min(r, right[k]) - max(x, left[k]), 0) * max(min(b, bottom[k]) - max(y, top[k]), 0);
        if (3 * both > own + area[k]) bits |= 1ull << k;
    }
    mask[(size_t)i * words + word] = bits;
}
