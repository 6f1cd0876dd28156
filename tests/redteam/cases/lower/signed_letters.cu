__global__ void lower(const unsigned char* in, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    signed char c = in[i];
    out[i] = c <= 'Z' && (c >= 'A' || c < -37) ? c + 32 : c;
}
