// Where points lie with respect to a polygon: 0 outside, 1 inside (even-odd rule), 2 on its border.
__global__ void corral(const int* px, const int* py, const int* vx, const int* vy,
                       int* place, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int box[4];
    if (threadIdx.x == 0) {
        box[0] = box[2] = 2147483647;
        box[1] = box[3] = -2147483647;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < m; k += blockDim.x) {
        atomicMin(&box[0], vx[k]);
        atomicMax(&box[1], vx[k]);
        atomicMin(&box[2], vy[k]);
        atomicMax(&box[3], vy[k]);
    }
    __syncthreads();
    if (i >= n) return;
    int x = px[i], y = py[i];
    int state = 0;
    if (x < box[0] || x > box[1] || y < box[2] || y >= box[3]) {
        place[i] = 0;
        return;
    }
    for (int k = 0; k < m; k++) {
        int next = k + 1 < m ? k + 1 : 0;
        int ax = vx[k], ay = vy[k], bx = vx[next], by = vy[next];
        long long cross = (long long)(bx - ax) * (y - ay) - (long long)(by - ay) * (x - ax);
        if (cross == 0 && x >= min(ax, bx) && x <= max(ax, bx) && y >= min(ay, by) && y <= max(ay, by)) {
            state = 2;
            break;
        }
        if ((ay > y) != (by > y) && (cross > 0) == (by > ay)) state ^= 1;
    }
    place[i] = state;
}
