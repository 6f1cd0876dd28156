// Aperture photometry: for every star the light inside a circle, less the sky under it, which is the mean of
// a ring around it.  Pixels that are not finite (dead, saturated) and pixels off the image count nowhere.
// One warp per star, one lane per column of the window.
extern "C" __global__ void aperture(const float* image, const int* cx, const int* cy, float* flux, int* good,
                                    int stars, int w, int h, int rad, int rin, int rout)
{
    const int lane = threadIdx.x & 31;
    const int star = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (star >= stars) return;
    const int dx = lane - rout;
    const float* centre = image + (size_t)cy[star] * w + cx[star];
    double light = 0, sky = 0;
    int nl = 0, ns = 0;
    if (dx <= rout) {
#pragma unroll 4
        for (int dy = -rout; dy <= rout; ++dy) {
            const int d2 = dx * dx + dy * dy;
            if (d2 > rout * rout || (d2 > rad * rad && d2 <= rin * rin)) continue;
            const float v = centre[(ptrdiff_t)dy * w + dx];
            if (!isfinite(v)) continue;
            if (d2 <= rad * rad) { light += v; ++nl; } else { sky += v; ++ns; }
        }
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
