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
    const int turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    float det;
    {
        const float px = ax, py = ay, qx = bx, qy = by, rx = cx, ry = cy;
        det = (px * px + py * py) * (qx * ry - qy * rx)
            + (qx * qx + qy * qy) * (rx * py - ry * px)
            + (rx * rx + ry * ry) * (px * qy - py * qx);
    }
    if (fabsf(det) < 1e9f) {
        const long long exact = ((long long)ax * ax + (long long)ay * ay) * ((long long)bx * cy - (long long)by * cx)
                              + ((long long)bx * bx + (long long)by * by) * ((long long)cx * ay - (long long)cy * ax)
                              + ((long long)cx * cx + (long long)cy * cy) * ((long long)ax * by - (long long)ay * bx);
        det = exact > 0 ? 1.0f : exact < 0 ? -1.0f : 0.0f;
    }
    const bool flip = turn > 0 ? det > 0 : turn < 0 ? det < 0 : false;
    illegal[e] = flip;
    if (flip) {
        atomicAdd(&busy[a], 1);
        atomicAdd(&busy[b], 1);
        atomicAdd(&busy[c], 1);
        atomicAdd(&busy[d], 1);
    }
}
