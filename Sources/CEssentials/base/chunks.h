// The memory of the chunks of streamed bodies.
#ifndef CE_CHUNKS_H
#define CE_CHUNKS_H

#include "CEssentials.h"

typedef struct ce_chunk_pool ce_chunk_pool;
ce_chunk_pool *ce_chunk_pool_create(void);
// Releases the loop's reference. The pool is freed together with the last chunk that is in use.
void ce_chunk_pool_release(ce_chunk_pool *pool);
// CE_CHUNK_SIZE bytes, or NULL without memory. `ce_chunk_give` (public) returns them, on any thread.
char *ce_chunk_take(ce_chunk_pool *pool);

#endif
