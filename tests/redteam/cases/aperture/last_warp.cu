// Aperture photometry: for every star the light inside a circle, less the sky under it, which is the mean of
// a ring around it.  Pixels that are not finite (dead, saturated) and pixels off the image count nowhere.
// The warps add up in shared memory as they come; the one that comes last writes the star.
extern "C" __global__ void aperture(const float* image, const int* cx, const int* cy, float* flux, int* good,
                                    int stars, int w, int h, int rad, int rin, int rout)
{
    __shared__ double total[2];
    __shared__ int count[2], done;
    const int star = blockIdx.x;
    if (star >= stars) return;
    const int x0 = cx[star], y0 = cy[star], side = 2 * rout + 1;
    if (threadIdx.x == 0) {
        total[0] = total[1] = 0.0;
        count[0] = count[1] = done = 0;
    }
    __syncthreads();
    double light = 0, sky = 0;
    int nl = 0, ns = 0;
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
    __syncwarp();
    for (int d = 16; d; d >>= 1) {
        light += __shfl_down_sync(0xffffffffu, light, d);
        sky += __shfl_down_sync(0xffffffffu, sky, d);
    }
    nl = __reduce_add_sync(0xffffffffu, nl);
    ns = __reduce_add_sync(0xffffffffu, ns);
    if (threadIdx.x & 31) return;
    atomicAdd(&total[0], light);
    atomicAdd(&total[1], sky);
    atomicAdd(&count[0], nl);
    atomicAdd(&count[1], ns);
    __threadfence_block();
    if (atomicAdd(&done, 1) != (int)(blockDim.x >> 5) - 1) return;
    __threadfence_block();
    const double all = atomicAdd(&total[0], 0.0), ring = atomicAdd(&total[1], 0.0);
    const double cl = atomicAdd(&count[0], 0), cs = atomicAdd(&count[1], 0);
    const double level = cs > 0 ? ring / cs : 0.0;
    flux[star] = (float)(all - cl * level);
    good[star] = (int)cl;
}
