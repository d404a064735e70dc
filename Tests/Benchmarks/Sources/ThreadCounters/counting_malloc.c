#include "thread_counters.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

// The names under which glibc exports its own allocator to programs that define `malloc`. Functions that are not
// replaced here, such as `free`, use the same heap. Allocations are counted, not blocks in use: an operation that
// allocates and frees leaves no trace in the allocator's own statistics.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t allocations;

uint64_t thread_allocations(void) {
    return allocations;
}

void *malloc(size_t size) {
    allocations += 1;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations += 1;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    allocations += 1;
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    allocations += 1;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    allocations += 1;
    void *result = __libc_memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *block = result;
    return 0;
}
