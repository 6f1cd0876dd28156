// Is each point outside (0) or inside (1) a polygon of `m` corners, by the even-odd rule, or on its edge (2)?
__global__ void pinpoint(const int* px, const int* py, const int* vx, const int* vy, int* where, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = px[i], y = py[i];
    int inside = 0, touching = 0;
    for (int e = 0; e < m; ++e) {
        int next = e + 1 < m ? e + 1 : 0;
        int ax = vx[e], ay = vy[e], bx = vx[next], by = vy[next];
        int side = (int)((unsigned)(bx - ax) * (unsigned)(y - ay) - (unsigned)(by - ay) * (unsigned)(x - ax));
        if (side == 0 && min(ax, bx) <= x && x <= max(ax, bx) && min(ay, by) <= y && y <= max(ay, by))
            touching = 1;
        if ((ay <= y) != (by <= y) && (by > ay) == (side > 0))
            inside ^= 1;
    }
    where[i] = touching ? 2 : inside;
}
