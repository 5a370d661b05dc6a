// y = a * x + y, one element a thread, with a guard: memory traffic and nothing else.
extern "C" __global__ void saxpy(unsigned n, float a, const float *__restrict__ x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
