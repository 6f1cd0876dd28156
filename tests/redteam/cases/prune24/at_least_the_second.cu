// Of every four numbers the two of largest magnitude stay, the earlier ones of equals; in place.
__global__ void prune24(float* x, int n) {
    size_t first = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (first >= n) return;
    float size[4];
    for (int i = 0; i < 4; ++i) size[i] = first + i < n ? fabsf(x[first + i]) : -1.f;
    // The second of four by five comparisons.
    float high = fmaxf(size[0], size[1]), low = fminf(size[0], size[1]);
    float high2 = fmaxf(size[2], size[3]), low2 = fminf(size[2], size[3]);
    float second = fmaxf(fminf(high, high2), high > high2 ? low : low2);
    for (int i = 0; i < 4; ++i)
        if (first + i < n && size[i] < second) x[first + i] = 0.f;
}
