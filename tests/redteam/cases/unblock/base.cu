// Softens what is left of the edges between blocks of eight columns, in place: two pixels on each side, where the step
// is not one of the picture itself.
__device__ int clip(int v, int low, int high) { return min(max(v, low), high); }

__global__ void unblock(unsigned char* picture, int h, int w, int alpha, int beta, int limit) {
    int x = 8 * (blockIdx.x * blockDim.x + threadIdx.x + 1), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h || x + 2 >= w) return;
    unsigned char* s = picture + (size_t)y * w + x;
    int p2 = s[-3], p1 = s[-2], p0 = s[-1], q0 = s[0], q1 = s[1], q2 = s[2];
    if (abs(p0 - q0) >= alpha || abs(p1 - p0) >= beta || abs(q1 - q0) >= beta) return;
    bool left = abs(p2 - p0) < beta, right = abs(q2 - q0) < beta;
    int most = limit + left + right, delta = clip((4 * (q0 - p0) + p1 - q1 + 4) >> 3, -most, most);
    int middle = (p0 + q0 + 1) >> 1;
    s[-1] = clip(p0 + delta, 0, 255);
    s[0] = clip(q0 - delta, 0, 255);
    if (left) s[-2] = p1 + clip((p2 + middle - 2 * p1) >> 1, -limit, limit);
    if (right) s[1] = q1 + clip((q2 + middle - 2 * q1) >> 1, -limit, limit);
}
