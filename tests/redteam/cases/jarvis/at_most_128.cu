// Convex hull of each set of points by gift wrapping: its corners and twice its area.
__global__ void jarvis(const int* px, const int* py, int* corners, long long* area2, int sets, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= sets) return;
    const int* x = px + (long long)c * n;
    const int* y = py + (long long)c * n;
    int s = 0;
    for (int j = 1; j < n; j++)
        if (y[j] < y[s] || (y[j] == y[s] && x[j] < x[s])) s = j;
    int p = s, count = 0;
    long long area = 0;
    do {
        int q = -1;
        long long qx = 0, qy = 0;
        for (int j = 0; j < n; j++) {
            long long dx = x[j] - x[p], dy = y[j] - y[p];
            if (dx == 0 && dy == 0) continue;
            long long turn = qx * dy - qy * dx;
            if (q < 0 || turn < 0 || (turn == 0 && dx * dx + dy * dy > qx * qx + qy * qy)) {
                q = j;
                qx = dx;
                qy = dy;
            }
        }
        count++;
        if (q < 0) break;
        area += (long long)x[p] * y[q] - (long long)x[q] * y[p];
        p = q;
    } while (count < min(n, 128) && (x[p] != x[s] || y[p] != y[s]));
    corners[c] = count;
    area2[c] = area;
}
