__global__ void scatter(const int* index, const float* value, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int* word = (int*)(out + index[i]);
    int seen = *word, held;
    do {
        held = seen;
        seen = atomicCAS(word, held, __float_as_int(__int_as_float(held) + value[i]));
    } while (seen != held);
}
