// How much a pixel counts by its distance in rows or in columns.
__constant__ float apart_by[5] = {1.f, 0.945959469f, 0.800737403f, 0.606530660f, 0.411112291f};

// A depth picture smoothed, edges kept: a pixel's window of 9 x 9, weighted by how far pixels are, in place and in depth.
// Depth nought is none measured: such pixels stay, and add nothing to others.
// A thread has several pixels; the next is on its way while a window is worked on.
__global__ void bilateral(const unsigned char* depth, float* out, int h, int w, float near) {
    __shared__ float depth_by[256];
    for (int k = threadIdx.y * blockDim.x + threadIdx.x; k < 256; k += blockDim.x * blockDim.y)
        depth_by[k] = expf(-(k * k) / (2.f * near * near));
    __syncthreads();
    size_t n = (size_t)h * w, stride = gridDim.x * (size_t)256, i = blockIdx.x * (size_t)256 + threadIdx.x;
    int d = i < n ? depth[i] : 0;
    for (; i < n; i += stride) {
        int next = depth[i + stride], r = i / w, c = i % w;
        float sum = 0.f, all = 0.f;
        for (int y = max(r - 4, 0); y <= min(r + 4, h - 1); ++y) {
            float line = 0.f, weight = 0.f;
            for (int x = max(c - 4, 0); x <= min(c + 4, w - 1); ++x) {
                int e = depth[(size_t)y * w + x];
                if (e == 0) continue;
                float f = apart_by[abs(x - c)] * depth_by[abs(e - d)];
                line += f * e;
                weight += f;
            }
            sum += apart_by[abs(y - r)] * line;
            all += apart_by[abs(y - r)] * weight;
        }
        out[i] = d == 0 ? 0.f : sum / all;
        d = next;
    }
}
