// One sum a block: shuffles inside a warp, shared memory between the warps of a block of 256.
constexpr unsigned ALL = 0xffffffff;

__device__ unsigned warp_sum(unsigned value)
{
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(ALL, value, offset);
    return value;
}

extern "C" __global__ void reduce(unsigned n, const unsigned *__restrict__ in, unsigned *sums)
{
    __shared__ unsigned partial[8];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = warp_sum(i < n ? in[i] : 0);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < 8 ? partial[lane] : 0);
        if (lane == 0) sums[blockIdx.x] = sum;
    }
}
