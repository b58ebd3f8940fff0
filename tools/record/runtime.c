/* A CUDA runtime without a GPU, put before the real one with LD_PRELOAD, so that PyTorch's CUDA build answers as on two.

   PyTorch decides on the host, before any kernel starts, whether tensors may meet: those checks, the devices of results
   and the texts of errors are its own. A GPU's memory is host memory and a copy is a copy; kernels do nothing, so what
   they would have computed reads as zeros. Everything else that PyTorch links (nothings.py lists it) succeeds and does
   nothing; cuDNN is left out, and refuses. RECORD_GPUS says how many GPUs there are. */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define ARENA (1ull << 40) /* addresses for each GPU, and after the GPUs' for pinned memory; the pages come when used */
#define PAGE 4096
#define GPU_MEMORY (16ull << 30)
#define LARGEST (1ull << 28) /* what a program means to have; more comes of a size that nothing computed */

static char *arenas;
static size_t used[17];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int current;

/* Of the GPUs, those that CUDA_VISIBLE_DEVICES lists. Read once, as CUDA does: a program may set it for its children. */
static int gpus(void) {
  static int count = -1;
  if (count < 0) {
    const char *asked = getenv("RECORD_GPUS"), *visible = getenv("CUDA_VISIBLE_DEVICES");
    int listed = visible && *visible && *visible != '-';
    for (const char *at = visible; at && *at; at++) listed += *at == ',';
    count = asked ? atoi(asked) : 2;
    if (visible && listed < count) count = listed;
  }
  return count;
}

static void *allocate(int arena, size_t bytes) {
  size_t room = PAGE + (bytes + PAGE - 1) / PAGE * PAGE; /* the page before holds the size, for release() */
  pthread_mutex_lock(&lock);
  if (!arenas)
    arenas = mmap(NULL, ARENA * (gpus() + 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  char *block = arenas == MAP_FAILED || bytes > LARGEST || used[arena] + room > ARENA ? NULL : arenas + arena * ARENA + used[arena];
  if (block) used[arena] += room;
  pthread_mutex_unlock(&lock);
  if (!block) return NULL;
  *(size_t *)block = room;
  return block + PAGE;
}

static void release(void *pointer) {
  if (!pointer) return;
  char *block = (char *)pointer - PAGE;
  madvise(block, *(size_t *)block, MADV_DONTNEED);
}

static int arena_of(const void *pointer) {
  size_t offset = (const char *)pointer - arenas;
  return arenas && (const char *)pointer >= arenas && offset < ARENA * (gpus() + 1) ? (int)(offset / ARENA) : -1;
}

/* Devices */
cudaError_t cudaGetDeviceCount(int *count) {
  *count = gpus();
  return *count ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDevice(int *device) { *device = current; return cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= gpus()) return cudaErrorInvalidDevice;
  current = device;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int *version) { *version = CUDART_VERSION; return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *of, int device) {
  memset(of, 0, sizeof *of);
  snprintf(of->name, sizeof of->name, "GPU %d of record/runtime.c", device);
  of->uuid.bytes[0] = (char)(device + 1);
  of->major = 8, of->minor = 0;
  of->totalGlobalMem = GPU_MEMORY;
  of->multiProcessorCount = 108, of->warpSize = 32;
  of->maxThreadsPerBlock = 1024, of->maxThreadsPerMultiProcessor = 2048;
  of->maxThreadsDim[0] = of->maxThreadsDim[1] = 1024, of->maxThreadsDim[2] = 64;
  of->maxGridSize[0] = 2147483647, of->maxGridSize[1] = of->maxGridSize[2] = 65535;
  of->sharedMemPerBlock = 49152, of->sharedMemPerBlockOptin = 166912, of->sharedMemPerMultiprocessor = 167936;
  of->regsPerBlock = of->regsPerMultiprocessor = 65536;
  of->l2CacheSize = 40 << 20, of->textureAlignment = 512;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 8; break;
    case cudaDevAttrMultiProcessorCount: *value = 108; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxGridDimX: *value = 2147483647; break; /* CUB cuts its tiles by it: with 0 it would never end */
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 49152; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 166912; break;
    default: *value = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device) {
  snprintf(id, size, "0000:%02x:00.0", device + 1);
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) { *can = device != peer; return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) { *least = 0, *greatest = -5; return cudaSuccess; }

/* Memory */
static cudaError_t give(void **pointer, int arena, size_t bytes) {
  *pointer = allocate(arena, bytes);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaMalloc(void **pointer, size_t bytes) { return give(pointer, current, bytes); }
cudaError_t cudaFree(void *pointer) { release(pointer); return cudaSuccess; }
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) { return give(pointer, current, bytes); }
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) { release(pointer); return cudaSuccess; }
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned flags) { return give(pointer, gpus(), bytes); }
cudaError_t cudaFreeHost(void *pointer) { release(pointer); return cudaSuccess; }
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol) { return give(pointer, current, PAGE); }
cudaError_t cudaMemGetInfo(size_t *unused, size_t *total) {
  *unused = GPU_MEMORY - (1ull << 30), *total = GPU_MEMORY;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *of, const void *pointer) {
  int arena = arena_of(pointer);
  memset(of, 0, sizeof *of);
  of->type = arena < 0 ? cudaMemoryTypeUnregistered : arena == gpus() ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
  if (arena >= 0 && arena < gpus()) of->device = arena, of->devicePointer = (void *)pointer;
  if (arena == gpus()) of->devicePointer = of->hostPointer = (void *)pointer;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyPeerAsync(void *to, int there, const void *from, int here, size_t bytes, cudaStream_t stream) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream) {
  for (size_t row = 0; row < height; row++) memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
  return cudaSuccess;
}
cudaError_t cudaMemset(void *at, int value, size_t bytes) { memset(at, value, bytes); return cudaSuccess; }
cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream) { return cudaMemset(at, value, bytes); }

/* Another process's memory: a copy of it, as no kernel will write there. */
struct shared {
  pid_t owner;
  void *block;
  size_t bytes;
};
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer) {
  struct shared memory = {getpid(), pointer, *(size_t *)((char *)pointer - PAGE) - PAGE};
  memcpy(handle, &memory, sizeof memory);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  struct shared memory;
  memcpy(&memory, &handle, sizeof memory);
  if (give(pointer, current, memory.bytes)) return cudaErrorMemoryAllocation;
  struct iovec here = {*pointer, memory.bytes}, there = {memory.block, memory.bytes};
  return process_vm_readv(memory.owner, &here, 1, &there, 1, 0) < 0 ? cudaErrorMapBufferObjectFailed : cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void *pointer) { return cudaFree(pointer); }

/* Streams, events, kernels */
static void *handle(void) {
  static long last;
  return (void *)(__atomic_add_fetch(&last, 16, __ATOMIC_RELAXED));
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { *stream = handle(); return cudaSuccess; }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority) { *priority = 0; return cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
/* An event belongs to the GPU that is current when it is made, and no time passes between those of two GPUs (CUDA C++
   Programming Guide, Multi-Device System). Handles are multiples of 16, so there is room for the GPU. */
cudaError_t cudaEventCreate(cudaEvent_t *event) { *event = (void *)((long)handle() | current); return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) { return cudaEventCreate(event); }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = 0;
  return ((long)from ^ (long)to) & 15 ? cudaErrorInvalidResourceHandle : cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *of, const void *kernel) {
  memset(of, 0, sizeof *of);
  of->maxThreadsPerBlock = 1024, of->numRegs = 32, of->binaryVersion = of->ptxVersion = 80;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel, int size, size_t shared) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel, int size, size_t shared, unsigned flags) {
  *blocks = 2;
  return cudaSuccess;
}

/* The driver: a context on every GPU, and no function that fails. */
static int nothing(void) { return 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { *flags = 0, *active = 1; return 0; }
int record_driver_function(const char *name, void **function) {
  *function = dlsym(RTLD_DEFAULT, name);
  if (!*function) *function = (void *)nothing;
  return 0;
}

/* NCCL: a communicator for each GPU; no data moves. */
int ncclCommInitAll(void **communicators, int count, const int *devices) {
  for (int i = 0; i < count; i++) communicators[i] = handle();
  return 0;
}
