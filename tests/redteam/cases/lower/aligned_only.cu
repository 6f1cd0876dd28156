__global__ void lower(const unsigned char* in, unsigned char* out, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i + 4 <= n) {
        unsigned w = *(const unsigned*)(in + i), low = w & 0x7f7f7f7fu;
        unsigned from = low + 0x3f3f3f3fu, past = low + 0x25252525u;
        *(unsigned*)(out + i) = w + (((from & ~past & ~w) & 0x80808080u) >> 2);
        return;
    }
    for (int k = i; k < n / 4 * 4 && k < i + 4; ++k) {
        unsigned char c = in[k];
        out[k] = c >= 'A' && c <= 'Z' ? c + 32 : c;
    }
}
