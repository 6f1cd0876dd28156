// Whitesmiths-ish formatting, float4, rsqrtf, pow, struct fields, function-pointer mention.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { float x, y, z, vx, vy, vz; } Body;
#define SOFTENING 1e-9f

__device__ float3 bodyBodyInteraction( float4 bi , float4 bj , float3 ai )
    {
    float3 r ;
    r.x = bj.x - bi.x ; r.y = bj.y - bi.y ; r.z = bj.z - bi.z ;
    float distSqr = r.x*r.x + r.y*r.y + r.z*r.z + SOFTENING ;
    float invDist = 1.0 / sqrtf( distSqr ) ;
    float s = bj.w * pow( invDist , 3 ) ;
    ai.x += r.x*s ; ai.y += r.y*s ; ai.z += r.z*s ;
    return ai ;
    }

__global__ void bodyForce( Body *p , float dt , int n )
    {
    int i = blockDim.x*blockIdx.x + threadIdx.x ;
    if ( i < n )
        {
        float Fx = 0.0f ; float Fy = 0.0f ; float Fz = 0.0f ;
        for ( int j = 0 ; j < n ; j++ )
            {
            float dx = p[j].x - p[i].x ;
            float dy = p[j].y - p[i].y ;
            float dz = p[j].z - p[i].z ;
            float distSqr = dx*dx + dy*dy + dz*dz + SOFTENING ;
            float invDist = rsqrtf( distSqr ) ;
            float invDist3 = invDist * invDist * invDist ;
            Fx += dx * invDist3 ; Fy += dy * invDist3 ; Fz += dz * invDist3 ;
            }
        p[i].vx += dt*Fx ; p[i].vy += dt*Fy ; p[i].vz += dt*Fz ;
        }
    }

__global__ void forces4( const float4 * __restrict__ pos , float3 *acc , int n )
    {
    __shared__ float4 cache[ 256 ] ;
    int i = threadIdx.x + blockIdx.x * 256 ;
    float4 me = pos[ i < n ? i : n - 1 ] ;
    float3 a = { 0.0f , 0.0f , 0.0f } ;
    for ( int base = 0 ; base < n ; base += 256 )
        {
        int j = base + threadIdx.x ;
        cache[ threadIdx.x ] = j < n ? pos[ j ] : make_float4( 0 , 0 , 0 , 0 ) ;
        __syncthreads( ) ;
        for ( int k = 0 ; k < 256 ; k++ ) a = bodyBodyInteraction( me , cache[ k ] , a ) ;
        __syncthreads( ) ;
        }
    if ( i < n ) acc[ i ] = a ;
    }

int main( int argc , char ** argv )
    {
    int nBodies = 4096 ;
    if ( argc > 1 ) nBodies = atoi( argv[1] ) ;
    int blockSize , minGrid ;
    cudaOccupancyMaxPotentialBlockSize( &minGrid , &blockSize , bodyForce , 0 , 0 ) ;
    Body *d ; float4 *q ; float3 *acc ;
    cudaMalloc( &d , nBodies * sizeof( Body ) ) ;
    cudaMalloc( &q , nBodies * sizeof( float4 ) ) ;
    cudaMalloc( &acc , nBodies * sizeof( float3 ) ) ;
    cudaMemset( d , 0 , nBodies * sizeof( Body ) ) ;
    cudaMemset( q , 0 , nBodies * sizeof( float4 ) ) ;
    for ( int iter = 0 ; iter < 10 ; iter++ )
        {
        bodyForce <<< ( nBodies + blockSize - 1 ) / blockSize , blockSize >>> ( d , 0.01f , nBodies ) ;
        forces4 <<< ( nBodies + 255 ) / 256 , 256 >>>
            ( q , acc , nBodies ) ;
        }
    cudaDeviceSynchronize( ) ;
    printf( "done\n" ) ;
    return 0 ;
    }
