// The slope of the line that fits the points (t, y) of a row best; 0 if all of its t are equal.
__device__ double all(double v) {
    __shared__ double parts[256];
    parts[threadIdx.x] = v;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) parts[threadIdx.x] += parts[threadIdx.x + d];
        __syncthreads();
    }
    v = parts[0];
    __syncthreads();
    return v;
}

__global__ void slope(const int* t, const float* y, float* out, int cols) {
    t += (size_t)blockIdx.x * cols;
    y += (size_t)blockIdx.x * cols;
    double st = 0, sy = 0;
    for (int i = threadIdx.x; i < cols; i += 256) st += t[i];
    for (int i = threadIdx.x; i < cols; i += 256) sy += y[i];
    double tm = all(st) / cols, ym = all(sy) / cols, stt = 0, sty = 0;
    for (int i = threadIdx.x; i < cols; i += 256) stt += (t[i] - tm) * (t[i] - tm);
    for (int i = threadIdx.x; i < cols; i += 256) sty += (t[i] - tm) * (y[i] - ym);
    stt = all(stt);
    sty = all(sty);
    if (threadIdx.x == 0) out[blockIdx.x] = stt > 0 ? (float)(sty / stt) : 0.f;
}
