// Which later boxes (left, top, width, height) a box covers by more than half of their union: 64 to a word.
__global__ void nms(const int* box, unsigned long long* mask, int n) {
    int words = (n + 63) / 64, word = blockIdx.x, lane = threadIdx.x % 32;
    int low = 64 * word + lane, high = low + 32;
    int ax = 0, ay = 0, aw = 0, ah = 0, bx = 0, by = 0, bw = 0, bh = 0;
    if (low < n) ax = box[4 * low], ay = box[4 * low + 1], aw = box[4 * low + 2], ah = box[4 * low + 3];
    if (high < n) bx = box[4 * high], by = box[4 * high + 1], bw = box[4 * high + 2], bh = box[4 * high + 3];
    // A warp keeps two columns a lane and goes down the rows.
    int warps = blockDim.x / 32 * gridDim.y;
    for (int i = blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32; i < n; i += warps) {
        int x = box[4 * i], y = box[4 * i + 1], w = box[4 * i + 2], h = box[4 * i + 3];
        int a = max(min(x + w, ax + aw) - max(x, ax), 0) * max(min(y + h, ay + ah) - max(y, ay), 0);
        int b = max(min(x + w, bx + bw) - max(x, bx), 0) * max(min(y + h, by + bh) - max(y, by), 0);
        unsigned first = __ballot_sync(0xffffffffu, low > i && low < n && 2 * a > w * h + aw * ah - a);
        unsigned second = __ballot_sync(0xffffffffu, high > i && high < n && 2 * b > w * h + bw * bh - b);
        if (lane == 0) mask[(size_t)i * words + word] = (unsigned long long)second << 32 | first;
    }
}
