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
        double qx = ax + bx, qy = ay + by, sx = ax + dx, sy = ay + dy;
        double pa = ax * ax + ay * ay, pb = qx * qx + qy * qy, pc = sx * sx + sy * sy;
        double cross = 2.0 * (ax * (qy - sy) + qx * (sy - ay) + sx * (ay - qy));
        ux = (pa * (qy - sy) + pb * (sy - ay) + pc * (ay - qy)) / cross - ax;
        uy = (pa * (sx - qx) + pb * (ax - sx) + pc * (qx - ax)) / cross - ay;
        r = sqrt(ux * ux + uy * uy);
    }
    cx[i] = (float)(ax + ux);
    cy[i] = (float)(ay + uy);
    radius[i] = (float)r;
}
