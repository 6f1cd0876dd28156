// Which edges of a triangulation have to be flipped: the fourth point lies strictly within the circle through the
// triangle's three, whichever way round these go. busy counts for each point in how many such pairs of triangles it is.

__device__ int turned(int ax, int ay, int bx, int by, int cx, int cy)
{
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
}

__global__ void delaunay(const int* x, const int* y, const int* quad, unsigned char* illegal, int* busy, int edges)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    const int* q = quad + (size_t)e * 4;
    const int a = q[0], b = q[1], c = q[2], d = q[3];
    const int ax = x[a], ay = y[a], bx = x[b], by = y[b], cx = x[c], cy = y[c], dx = x[d], dy = y[d];
    const int turn = turned(ax, ay, bx, by, cx, cy);
    const long long det = (long long)(ax * ax + ay * ay) * turned(bx, by, cx, cy, dx, dy)
                        - (long long)(bx * bx + by * by) * turned(ax, ay, cx, cy, dx, dy)
                        + (long long)(cx * cx + cy * cy) * turned(ax, ay, bx, by, dx, dy)
                        - (long long)(dx * dx + dy * dy) * turn;
    const bool flip = turn > 0 ? det > 0 : turn < 0 ? det < 0 : false;
    illegal[e] = flip;
    if (flip) {
        atomicAdd(&busy[a], 1);
        atomicAdd(&busy[b], 1);
        atomicAdd(&busy[c], 1);
        atomicAdd(&busy[d], 1);
    }
}
