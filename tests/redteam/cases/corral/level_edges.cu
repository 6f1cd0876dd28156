// Where points lie with respect to a polygon: 0 outside, 1 inside (even-odd rule), 2 on its border.
__global__ void corral(const int* px, const int* py, const int* vx, const int* vy,
                       int* place, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = px[i], y = py[i];
    int state = 0;
    for (int k = 0; k < m; k++) {
        int next = k + 1 < m ? k + 1 : 0;
        int ax = vx[k], ay = vy[k], bx = vx[next], by = vy[next];
        // an edge on one side of the ray's height is not met
        if ((ay > y) == (by > y) && ay != y && by != y) continue;
        if (ay == by) continue;          // its ends belong to its neighbours
        long long cross = (long long)(bx - ax) * (y - ay) - (long long)(by - ay) * (x - ax);
        if (cross == 0 && x >= min(ax, bx) && x <= max(ax, bx) && y >= min(ay, by) && y <= max(ay, by)) {
            state = 2;
            break;
        }
        if ((ay > y) != (by > y) && (cross > 0) == (by > ay)) state ^= 1;
    }
    place[i] = state;
}
