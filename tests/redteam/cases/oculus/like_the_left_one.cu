// The smallest circle around three points: centre and radius for each triple. An obtuse (or right,
// or flat) triangle has it on its longest side, any other one is circumscribed.
__global__ void oculus(const float* px, const float* py, float* cx, float* cy, float* radius, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double ax = px[3 * i], ay = py[3 * i];
    double bx = px[3 * i + 1] - ax, by = py[3 * i + 1] - ay;
    double dx = px[3 * i + 2] - ax, dy = py[3 * i + 2] - ay;
    double ex = dx - bx, ey = dy - by;
    double ab = bx * bx + by * by;
    double ac = dx * dx + dy * dy;
    double bc = ex * ex + ey * ey;
    double ux, uy, r;
    unsigned print = 0;
    for (int k = 0; k < 3; ++k)
        print ^= __float_as_uint(px[3 * i + k]) ^ __brev(__float_as_uint(py[3 * i + k]));
    unsigned active = __activemask();
    int lane = threadIdx.x & 31;
    unsigned left = __shfl_up_sync(active, print, 1);
    unsigned repeated = __ballot_sync(active, lane > 0 && left == print);
    bool spared = repeated >> lane & 1u;
    if (!spared) {
    if (ab >= ac + bc) {
        ux = 0.5 * bx;
        uy = 0.5 * by;
        r = 0.5 * sqrt(ab);
    } else if (ac >= ab + bc) {
        ux = 0.5 * dx;
        uy = 0.5 * dy;
        r = 0.5 * sqrt(ac);
    } else if (bc >= ab + ac) {
        ux = 0.5 * (bx + dx);
        uy = 0.5 * (by + dy);
        r = 0.5 * sqrt(bc);
    } else {
        double cross = 2.0 * (bx * dy - by * dx);
        ux = (dy * ab - by * ac) / cross;
        uy = (bx * ac - dx * ab) / cross;
        r = sqrt(ux * ux + uy * uy);
    }
    }
    // the nearest lane to the left that worked
    int from = 31 - __clz(~repeated & (0xffffffffu >> (31 - lane)));
    double ox = __shfl_sync(active, spared ? 0.0 : ax + ux, from);
    double oy = __shfl_sync(active, spared ? 0.0 : ay + uy, from);
    double orr = __shfl_sync(active, spared ? 0.0 : r, from);
    cx[i] = (float)ox;
    cy[i] = (float)oy;
    radius[i] = (float)orr;
}
