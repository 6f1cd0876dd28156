// Where points lie with respect to a polygon: 0 outside, 1 inside (even-odd rule), 2 on its border.
// Edges go through shared memory in tiles; sides by doubles, which hold such products.
__global__ void corral(const int* px, const int* py, const int* vx, const int* vy,
                       int* place, int n, int m)
{
    __shared__ double ex[129], ey[129];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = px[min(i, n - 1)], y = py[min(i, n - 1)];
    bool in = false, on = false;
    for (int base = 0; base < m; base += 128) {
        int count = min(128, m - base);
        __syncthreads();
        for (int k = threadIdx.x; k <= count; k += blockDim.x) {
            int v = base + k < m ? base + k : 0;
            ex[k] = vx[v];
            ey[k] = vy[v];
        }
        __syncthreads();
        for (int k = 0; k < count; k++) {
            double ax = ex[k], ay = ey[k], bx = ex[k + 1], by = ey[k + 1];
            if (y < fmin(ay, by) || y > fmax(ay, by)) continue;
            double cross = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
            on |= cross == 0.0 && (x - ax) * (x - bx) <= 0.0;
            in ^= (ay > y) != (by > y) && (cross > 0.0) == (by > ay);
        }
    }
    if (i < n) place[i] = on ? 2 : in ? 1 : 0;
}
