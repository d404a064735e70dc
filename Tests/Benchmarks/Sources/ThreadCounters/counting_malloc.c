#include "thread_counters.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

// The names under which glibc exports its own allocator to programs that define `malloc`. Functions that are not
// replaced here, such as `free`, use the same heap. Allocations are counted, not blocks in use: an operation that
// allocates and frees leaves no trace in the allocator's own statistics.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

// Every thread counts in a slot of its own, so that counting costs no thread anything by another's count. Threads beyond
// the last slot share it, and may lose a count now and then.
enum { SLOTS = 256 };

struct slot {
    _Alignas(64) _Atomic uint64_t count;
};

static struct slot slots[SLOTS];
static atomic_uint taken;
static __thread struct slot *mine;

static void note(void) {
    if (mine == NULL) {
        unsigned index = atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
        mine = &slots[index < SLOTS ? index : SLOTS - 1];
    }
    uint64_t before = atomic_load_explicit(&mine->count, memory_order_relaxed);
    atomic_store_explicit(&mine->count, before + 1, memory_order_relaxed);
}

uint64_t thread_allocations(void) {
    return mine == NULL ? 0 : atomic_load_explicit(&mine->count, memory_order_relaxed);
}

uint64_t process_allocations(void) {
    uint64_t sum = 0;
    for (int i = 0; i < SLOTS; i++) sum += atomic_load_explicit(&slots[i].count, memory_order_relaxed);
    return sum;
}

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    note();
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    note();
    void *result = __libc_memalign(alignment, size);
    if (result == NULL) return ENOMEM;
    *block = result;
    return 0;
}
