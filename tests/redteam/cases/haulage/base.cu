// Loading of trucks at many depots, in order of arrival: a parcel goes on the truck that
// stands at the ramp if it still fits, otherwise that truck leaves and the next one comes
// up. A parcel heavier than a truck may carry stays behind (-1) and nothing else changes.
// truck: number of each parcel's truck; trucks: how many were used; left: load of the last.
extern "C" __global__ void haulage(const int* weight, int* truck, int* trucks, int* left,
                                   int depots, int parcels, int cap)
{
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= depots)
        return;
    const int* w = weight + (size_t)d * parcels;
    int* out = truck + (size_t)d * parcels;
    int number = -1, load = 0;
    for (int i = 0; i < parcels; i++) {
        if (w[i] > cap) {
            out[i] = -1;
            continue;
        }
        if (number < 0 || load + w[i] > cap) {
            number++;
            load = 0;
        }
        load += w[i];
        out[i] = number;
    }
    trucks[d] = number + 1;
    left[d] = load;
}
