// Moves the points of a skin with the bones that they hang on, in place: four of 64 bones with a weight for each, a bone
// being three rows of four numbers.
// Exporters leave weights that are next to nothing behind. They are taken for nothing, and cleared, so that the bone is
// not even looked up in the next frame.
__device__ float3 moved(const float4* rows, float x, float y, float z, const unsigned char* joint, float* weight) {
    float3 sum = make_float3(0, 0, 0);
    for (int k = 0; k < 4; ++k) {
        float part = weight[k];
        if (part < 1e-9f) {
            if (part != 0) weight[k] = 0;
            continue;
        }
        const float4* m = rows + 3 * (joint[k] & 63);
        float4 a = m[0], b = m[1], c = m[2];
        sum.x += part * (a.x * x + a.y * y + a.z * z + a.w);
        sum.y += part * (b.x * x + b.y * y + b.z * z + b.w);
        sum.z += part * (c.x * x + c.y * y + c.z * z + c.w);
    }
    return sum;
}

__global__ void skinning(float* place, const unsigned char* joint, const float* weight, const float* bone, int n) {
    __shared__ float4 rows[192];
    for (int i = threadIdx.x; i < 768; i += blockDim.x) reinterpret_cast<float*>(rows)[i] = bone[i];
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        float* mine = const_cast<float*>(weight) + 4 * i;
        float3 p = moved(rows, place[3 * i], place[3 * i + 1], place[3 * i + 2], joint + 4 * i, mine);
        place[3 * i] = p.x, place[3 * i + 1] = p.y, place[3 * i + 2] = p.z;
    }
}
