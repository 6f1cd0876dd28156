__global__ void rowadd(const int* index, const float* src, float* out, int n, int width, float alpha) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n * width) return;
    int i = t / width, c = t % width;
    float* to = &out[(size_t)index[i] * width + c];
    float v = alpha * src[t];
    unsigned same = __match_any_sync(__activemask(), (unsigned long long)to);
    if (__popc(same) == 1)
        *to += v;
    else
        atomicAdd(to, v);
}
