// Softens what is left of the edges between blocks of eight columns, in place: two pixels on each side, where the step
// is not one of the picture itself.
__device__ int clip(int v, int low, int high) { return min(max(v, low), high); }

__global__ void unblock(unsigned char* picture, int h, int w, int alpha, int beta, int limit) {
    int x = 8 * (blockIdx.x * blockDim.x + threadIdx.x + 1), y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= h || x + 3 >= w) return;
    unsigned char* s = picture + (size_t)y * w + x;
    // Four pixels on each side as words, where they are aligned; nobody else touches these eight.
    bool words = ((size_t)s & 3) == 0;
    int p2, p1, p0, q0, q1, q2;
    unsigned before = 0, behind = 0;
    if (words) {
        before = *(const unsigned*)(s - 4);
        behind = *(const unsigned*)s;
        p2 = before >> 8 & 255, p1 = before >> 16 & 255, p0 = before >> 24;
        q0 = behind & 255, q1 = behind >> 8 & 255, q2 = behind >> 16 & 255;
    } else {
        p2 = s[-3], p1 = s[-2], p0 = s[-1], q0 = s[0], q1 = s[1], q2 = s[2];
    }
    if (abs(p0 - q0) >= alpha || abs(p1 - p0) >= beta || abs(q1 - q0) >= beta) return;
    bool left = abs(p2 - p0) < beta, right = abs(q2 - q0) < beta;
    int most = limit + left + right, delta = clip((4 * (q0 - p0) + p1 - q1 + 4) >> 3, -most, most);
    int middle = (p0 + q0 + 1) >> 1, a = p1, b = q1;
    if (left) a = (p1 + clip((p2 + middle - 2 * p1) >> 1, -limit, limit)) & 255;
    if (right) b = (q1 + clip((q2 + middle - 2 * q1) >> 1, -limit, limit)) & 255;
    p0 = clip(p0 + delta, 0, 255), q0 = clip(q0 - delta, 0, 255);
    if (words) {
        *(unsigned*)(s - 4) = (before & 0xffff) | a << 16 | (unsigned)p0 << 24;
        *(unsigned*)s = (behind & 0xffff0000) | b << 8 | q0;
    } else {
        s[-2] = a, s[-1] = p0, s[0] = q0, s[1] = b;
    }
}
