// A sum with what its additions have lost.
struct Sum {
    float s = 0.f, lost = 0.f;
    __device__ void add(float v) {
        float y = v - lost, next = s + y;
        lost = fabsf(next) <= 3e38f ? (next - s) - y : 0.f;
        s = next;
    }
};

// The sum of what a block's threads have.
__device__ float total(Sum mine, float* part) {
    __shared__ float whole;
    for (int k = 16; k; k /= 2) {
        float s = __shfl_xor_sync(0xffffffffu, mine.s, k), lost = __shfl_xor_sync(0xffffffffu, mine.lost, k);
        mine.add(s);
        mine.add(-lost);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = mine.s;
        part[8 + threadIdx.x / 32] = -mine.lost;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        Sum all;
        for (int w = 0; w < 16; ++w) all.add(part[w]);
        whole = all.s;
    }
    __syncthreads();
    return whole;
}

// Each channel of each picture gets its own mean and spread taken off, in place, and its channel's gain and shift.
// A thread holds up to sixteen values of a plane, which are read once then; the sums are compensated.
__global__ void instnorm(float* x, const float* gain, const float* shift, int channels, int size, float eps) {
    __shared__ float part[16];
    float *plane = x + blockIdx.x * (size_t)size, held[16];
    int c = blockIdx.x % channels, t = threadIdx.x;
    bool few = size <= 16 * 256;
    Sum s, v;
    if (few) {
#pragma unroll
        for (int k = 0; k < 16; ++k) {
            held[k] = t + 256 * k < size ? plane[t + 256 * k] : 0.f;
            if (t + 256 * k < size) s.add(held[k]);
        }
    } else {
        for (int i = t; i < size; i += 256) s.add(plane[i]);
    }
    float mean = total(s, part) / size;
    if (few) {
#pragma unroll
        for (int k = 0; k < 16; ++k)
            if (t + 256 * k < size) v.add((held[k] - mean) * (held[k] - mean));
    } else {
        for (int i = t; i < size; i += 256) v.add((plane[i] - mean) * (plane[i] - mean));
    }
    float by = gain[c] * rsqrtf(total(v, part) / size + eps), up = shift[c];
    if (few) {
#pragma unroll
        for (int k = 0; k < 16; ++k)
            if (t + 256 * k < size) plane[t + 256 * k] = (held[k] - mean) * by + up;
    } else {
        for (int i = t; i < size; i += 256) plane[i] = (plane[i] - mean) * by + up;
    }
}
