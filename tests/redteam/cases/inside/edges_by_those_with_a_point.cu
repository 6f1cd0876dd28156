#define EDGES 128

// Which points lie within a polygon of whole coordinates: how many of its edges a ray meets.
__global__ void inside(const int* px, const int* py, const int* vx, const int* vy,
                       unsigned char* in, int n, int k) {
    __shared__ int4 edge[EDGES];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = px[i], y = py[i];
    bool odd = false;
    for (int first = 0; first < k; first += EDGES) {
        int many = min(EDGES, k - first);
        for (int e = threadIdx.x; e < many; e += blockDim.x) {
            int at = first + e, before = at > 0 ? at - 1 : k - 1;
            edge[e] = make_int4(vx[at], vy[at], vx[before], vy[before]);
        }
        __syncthreads();
        for (int e = 0; e < many; ++e) {
            int4 v = edge[e];
            if ((v.y > y) == (v.w > y)) continue;
            long long l = (long long)(v.z - v.x) * (y - v.y), r = (long long)(x - v.x) * (v.w - v.y);
            if (v.w > v.y ? r < l : r > l) odd = !odd;
        }
        __syncthreads();
    }
    in[i] = odd;
}
