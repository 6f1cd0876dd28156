__constant__ unsigned char kLetters[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
// Three bytes as four letters; what is missing at the end is told by '='.
__global__ void base64(const unsigned char* data, unsigned char* text, int n) {
    __shared__ unsigned char letters[64], bytes[768];
    int first = blockIdx.x * 256, t = threadIdx.x;
    int here = min(768, n - 3 * first);
    if (t < 64) letters[t] = kLetters[t];
    for (int k = t; k < here; k += 256) bytes[k] = data[3 * first + k];
    __syncthreads();
    int left = here - 3 * t;
    if (left <= 0) return;
    unsigned bits = bytes[3 * t] << 16;
    if (left > 1) bits |= bytes[3 * t + 1] << 8;
    if (left > 2) bits |= bytes[3 * t + 2];
    uchar4 four = make_uchar4(letters[bits >> 18], letters[bits >> 12 & 63],
                              left > 1 ? letters[bits >> 6 & 63] : '=', left > 2 ? letters[bits & 63] : '=');
    unsigned char* to = text + 4 * (size_t)(first + t);
    if ((size_t)text % 4 == 0)
        *(uchar4*)to = four;
    else {
        to[0] = four.x;
        to[1] = four.y;
        to[2] = four.z;
        to[3] = four.w;
    }
}
