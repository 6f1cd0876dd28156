// Which edges of a triangulation have to be flipped: the fourth point lies strictly within the circle through the
// triangle's three, whichever way round these go. busy counts for each point in how many such pairs of triangles it is.

__global__ void delaunay(const int* x, const int* y, const int* quad, unsigned char* illegal, int* busy, int edges)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    const int* q = quad + (size_t)e * 4;
    const int a = q[0], b = q[1], c = q[2], d = q[3];
    const int ax = x[a] - x[d], ay = y[a] - y[d];
    const int bx = x[b] - x[d], by = y[b] - y[d];
    const int cx = x[c] - x[d], cy = y[c] - y[d];
    const int ab = ax * by - ay * bx, bc = bx * cy - by * cx, ca = cx * ay - cy * ax;
    bool flip;
    if ((ab > 0 && bc > 0 && ca > 0) || (ab < 0 && bc < 0 && ca < 0)) {
        flip = true;
    } else {
        const int turn = ab + bc + ca;
        const long long det = (long long)(ax * ax + ay * ay) * bc + (long long)(bx * bx + by * by) * ca
                            + (long long)(cx * cx + cy * cy) * ab;
        flip = turn > 0 ? det > 0 : turn < 0 ? det < 0 : false;
    }
    illegal[e] = flip;
    if (flip) {
        atomicAdd(&busy[a], 1);
        atomicAdd(&busy[b], 1);
        atomicAdd(&busy[c], 1);
        atomicAdd(&busy[d], 1);
    }
}
