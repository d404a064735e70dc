// A pool of chunks for streamed bodies.
//
// Chunks are filled on the engine's thread and freed on a reader's thread. The allocator returns such memory to the
// kernel and touches it anew for each chunk, which costs more than copying the bytes into it.
#include "chunks.h"

#include <pthread.h>
#include <stdlib.h>

struct ce_chunk_pool {
    pthread_mutex_t lock;
    struct chunk *kept; // guarded by `lock`, as are the two fields below
    unsigned kept_count;
    unsigned references; // one for the loop and one for each chunk in use
};

// Precedes the bytes of each chunk.
struct chunk {
    ce_chunk_pool *pool;
    struct chunk *next;
};

ce_chunk_pool *ce_chunk_pool_create(void) {
    ce_chunk_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pool->references = 1;
    return pool;
}

static void free_all(struct chunk *chunk) {
    while (chunk) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

static void release(ce_chunk_pool *pool, struct chunk *returned) {
    struct chunk *dropped = NULL;
    pthread_mutex_lock(&pool->lock);
    if (returned && pool->kept_count < CE_CHUNKS_KEPT) {
        returned->next = pool->kept;
        pool->kept = returned;
        pool->kept_count++;
    } else if (returned) {
        returned->next = NULL;
        dropped = returned;
    }
    bool is_last = --pool->references == 0;
    pthread_mutex_unlock(&pool->lock);
    free_all(dropped);
    if (!is_last) return;
    free_all(pool->kept);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void ce_chunk_pool_release(ce_chunk_pool *pool) {
    if (pool) release(pool, NULL);
}

char *ce_chunk_take(ce_chunk_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    struct chunk *chunk = pool->kept;
    if (chunk) {
        pool->kept = chunk->next;
        pool->kept_count--;
    }
    pool->references++;
    pthread_mutex_unlock(&pool->lock);
    if (!chunk) chunk = malloc(sizeof *chunk + CE_CHUNK_SIZE);
    if (!chunk) {
        release(pool, NULL);
        return NULL;
    }
    chunk->pool = pool;
    return (char *)(chunk + 1);
}

void ce_chunk_give(char *data) {
    if (!data) return;
    struct chunk *chunk = (struct chunk *)data - 1;
    release(chunk->pool, chunk);
}
