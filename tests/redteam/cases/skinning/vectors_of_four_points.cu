// Moves the points of a skin with the bones that they hang on, in place: four of 64 bones with a weight for each, a bone
// being three rows of four numbers.
// Four points are three vectors of four numbers: a thread reads and writes those, wherever the buffer begins with one.
// Of the last ones those that are there are moved.
__device__ float3 moved(const float4* rows, float x, float y, float z, const unsigned char* joint, const float* weight) {
    float3 sum = make_float3(0, 0, 0);
    for (int k = 0; k < 4; ++k) {
        const float4* m = rows + 3 * (joint[k] & 63);
        float4 a = m[0], b = m[1], c = m[2];
        sum.x += weight[k] * (a.x * x + a.y * y + a.z * z + a.w);
        sum.y += weight[k] * (b.x * x + b.y * y + b.z * z + b.w);
        sum.z += weight[k] * (c.x * x + c.y * y + c.z * z + c.w);
    }
    return sum;
}

__global__ void skinning(float* place, const unsigned char* joint, const float* weight, const float* bone, int n) {
    __shared__ float4 rows[192];
    for (int i = threadIdx.x; i < 768; i += blockDim.x) reinterpret_cast<float*>(rows)[i] = bone[i];
    __syncthreads();
    size_t q = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * q >= n) return;
    if ((size_t)place % 16 == 0) {
        const float4* from = reinterpret_cast<const float4*>(place) + 3 * q;
        float4 a = from[0], b = from[1], c = from[2];
        float at[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
        for (int k = 0; k < 4 && 4 * q + k < n; ++k) {
            size_t i = 4 * q + k;
            float3 p = moved(rows, at[3 * k], at[3 * k + 1], at[3 * k + 2], joint + 4 * i, weight + 4 * i);
            at[3 * k] = p.x, at[3 * k + 1] = p.y, at[3 * k + 2] = p.z;
        }
        float4* to = reinterpret_cast<float4*>(place) + 3 * q;
        to[0] = make_float4(at[0], at[1], at[2], at[3]);
        to[1] = make_float4(at[4], at[5], at[6], at[7]);
        to[2] = make_float4(at[8], at[9], at[10], at[11]);
        return;
    }
    for (size_t i = 4 * q; i < 4 * q + 4 && i < n; ++i) {
        float3 p = moved(rows, place[3 * i], place[3 * i + 1], place[3 * i + 2], joint + 4 * i, weight + 4 * i);
        place[3 * i] = p.x, place[3 * i + 1] = p.y, place[3 * i + 2] = p.z;
    }
}
