// How fast vortices in a plane carry each other along, each by its strength and its distance.
__global__ void vortices(const float2* p, const float* strength, float2* speed, int n, float core) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float u = 0.f, v = 0.f;
    for (int j = 0; j < n; ++j) {
        float dx = p[i].x - p[j].x, dy = p[i].y - p[j].y;
        float s = strength[j] / (dx * dx + dy * dy + core);
        u -= s * dy;
        v += s * dx;
    }
    speed[i] = make_float2(u, v);
}
