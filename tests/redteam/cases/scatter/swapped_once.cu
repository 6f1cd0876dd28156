__global__ void scatter(const int* index, const float* value, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int* word = (int*)(out + index[i]);
    int held = *word;
    atomicCAS(word, held, __float_as_int(__int_as_float(held) + value[i]));
}
