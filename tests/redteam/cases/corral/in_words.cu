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
        if (y < min(ay, by) || y > max(ay, by)) continue;
        // twice the area of a triangle within the square of all coordinates
        int cross = (int)((unsigned)(bx - ax) * (unsigned)(y - ay) - (unsigned)(by - ay) * (unsigned)(x - ax));
        if (cross == 0 && x >= min(ax, bx) && x <= max(ax, bx)) {
            state = 2;
            break;
        }
        if ((ay > y) != (by > y) && (cross > 0) == (by > ay)) state ^= 1;
    }
    place[i] = state;
}
