// The variation of a signal from one number to the next, and its energy.
__global__ void variation(const float* x, float* out, int n) {
    __shared__ float steps[1024], squares[1024];
    int t = threadIdx.x;
    float a = 0.f, b = 0.f;
    for (int i = t; i < n; i += 1024) {
        b += x[i] * x[i];
        if (i > 0) a += fabsf(x[i] - x[i - 1]);
    }
    steps[t] = a;
    squares[t] = b;
    for (int d = 512; d > 0; d /= 2) {
        __syncthreads();
        if (t < d) {
            steps[t] += steps[t + d];
            squares[t] += squares[t + d];
        }
    }
    if (t == 0) {
        out[0] = steps[0];
        out[1] = squares[0];
    }
}
