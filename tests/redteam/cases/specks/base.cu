// The places of a picture that stand out from the four beside them, and how many they are; in any order.
__global__ void specks(const unsigned char* p, int* place, int* count, int w, int h, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int left = p[y * w + max(x - 1, 0)], right = p[y * w + min(x + 1, w - 1)];
    int above = p[max(y - 1, 0) * w + x], below = p[min(y + 1, h - 1) * w + x];
    if (abs(4 * p[y * w + x] - left - right - above - below) > limit) place[atomicAdd(count, 1)] = y * w + x;
}
