// Is each point outside (0) or inside (1) a polygon of `m` corners, by the even-odd rule, or on its edge (2)?
__global__ void pinpoint(const int* px, const int* py, const int* vx, const int* vy, int* where, int n, int m)
{
    extern __shared__ int corners[];
    int* cx = corners;
    int* cy = corners + blockDim.x + 1;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i < n ? px[i] : 0, y = i < n ? py[i] : 0;
    int inside = 0, touching = 0;
    for (int begin = 0; begin == 0 || begin + 1 < m; begin += blockDim.x) {
        int count = min((int)blockDim.x, m - begin);
        __syncthreads();
        for (int c = threadIdx.x; c <= count; c += blockDim.x) {
            int from = begin + c < m ? begin + c : 0;
            cx[c] = vx[from];
            cy[c] = vy[from];
        }
        __syncthreads();
        for (int e = 0; e < count; ++e) {
            int ax = cx[e], ay = cy[e], bx = cx[e + 1], by = cy[e + 1];
            if (min(ay, by) > y || max(ay, by) < y)
                continue;
            long long side = (long long)(bx - ax) * (y - ay) - (long long)(by - ay) * (x - ax);
            if (side == 0 && min(ax, bx) <= x && x <= max(ax, bx) && min(ay, by) <= y && y <= max(ay, by))
                touching = 1;
            if ((ay <= y) != (by <= y) && (by > ay) == (side > 0))
                inside ^= 1;
        }
    }
    if (i < n)
        where[i] = touching ? 2 : inside;
}
