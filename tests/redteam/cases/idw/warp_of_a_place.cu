// Values at places between samples: a mean of all, weighted by one over the square of the distance. Where
// there is a sample it is taken itself, the first of several. A warp a place.
__global__ void idw(const int* qx, const int* qy, const int* sx, const int* sy, const float* sv, float* out, int n,
                    int m) {
    int i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    int x0 = qx[i], y0 = qy[i];
    float sum = 0.f, weights = 0.f;
    int hit = m;
    for (int k = lane; k < m; k += 32) {
        float x = x0 - sx[k], y = y0 - sy[k], d = x * x + y * y;
        if (d == 0.f) {
            hit = k;
            break;
        }
        sum += sv[k] / d;
        weights += 1.f / d;
    }
    hit = __reduce_min_sync(0xffffffffu, hit);
    for (int s = 16; s; s /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, s);
        weights += __shfl_xor_sync(0xffffffffu, weights, s);
    }
    if (lane == 0) out[i] = hit < m ? sv[hit] : sum / weights;
}
