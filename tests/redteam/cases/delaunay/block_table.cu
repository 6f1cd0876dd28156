// Which edges of a triangulation have to be flipped: the fourth point lies strictly within the circle through the
// triangle's three, whichever way round these go. busy counts for each point in how many such pairs of triangles it is.

__global__ void delaunay(const int* x, const int* y, const int* quad, unsigned char* illegal, int* busy, int edges)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ int point[1024], often[1024];
    for (int k = threadIdx.x; k < 1024; k += 256) {
        point[k] = -1;
        often[k] = 0;
    }
    __syncthreads();
    if (e < edges) {
    const int* q = quad + (size_t)e * 4;
    const int a = q[0], b = q[1], c = q[2], d = q[3];
    const long long ax = x[a] - x[d], ay = y[a] - y[d];
    const long long bx = x[b] - x[d], by = y[b] - y[d];
    const long long cx = x[c] - x[d], cy = y[c] - y[d];
    const long long turn = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax);
    const long long det = (ax * ax + ay * ay) * (bx * cy - by * cx)
                        + (bx * bx + by * by) * (cx * ay - cy * ax)
                        + (cx * cx + cy * cy) * (ax * by - ay * bx);
    const bool flip = turn > 0 ? det > 0 : turn < 0 ? det < 0 : false;
    illegal[e] = flip;
    if (flip) {
        for (int k = 0; k < 4; ++k) {
            const int p = q[k];
            unsigned slot = (unsigned)p * 2654435761u >> 22;
            int tries = 64;
            for (; tries; --tries, slot = (slot + 1) & 1023) {
                const int was = atomicCAS(&point[slot], -1, p);
                if (was == -1 || was == p) {
                    atomicAdd(&often[slot], 1);
                    break;
                }
            }
            if (!tries) atomicAdd(&busy[p], 1);
        }
    }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 1024; k += 256)
        if (often[k]) atomicAdd(&busy[point[k]], often[k]);
}
