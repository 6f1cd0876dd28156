// Pictures sampled at n places given from -1 to 1, between four pixels by their distance; pixels beyond the
// border are nothing, and so is a place that is none.
__global__ void sampled(const float* img, const float2* place, float* out, int n, int planes, int h, int w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (int c = blockIdx.y; c < planes; c += gridDim.y) {
        float x = (place[i].x + 1.f) * 0.5f * (w - 1), y = (place[i].y + 1.f) * 0.5f * (h - 1), sum = 0.f;
        if (x > -1.f && x < w && y > -1.f && y < h) {
            const float* plane = img + (size_t)c * h * w;
            int x0 = (int)floorf(x), y0 = (int)floorf(y);
            for (int dy = 0; dy < 2; ++dy)
                for (int dx = 0; dx < 2; ++dx) {
                    int xx = x0 + dx, yy = y0 + dy;
                    if (xx < 0 || xx >= w || yy < 0 || yy >= h) continue;
                    sum += (1.f - fabsf(x - xx)) * (1.f - fabsf(y - yy)) * plane[(size_t)yy * w + xx];
                }
        }
        out[(size_t)c * n + i] = sum;
    }
}
