namespace {
struct Sum {
    float high, low;
    __device__ Sum operator+(const Sum& o) const {
        float t = high + o.high, back = t - high;
        return {t, low + o.low + ((high - (t - back)) + (o.high - back))};
    }
};
}
__global__ void rowsum(const float* in, float* sums, int count, int width) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= count) return;
    Sum s{0.f, 0.f};
    for (int c = 0; c < width; ++c) s = s + Sum{in[(size_t)r * width + c], 0.f};
    float all = s.high + s.low;
    sums[r] = all == all ? all : s.high;
}
