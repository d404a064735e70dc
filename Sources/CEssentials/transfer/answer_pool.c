// Responses on their way from the engine's thread to the thread that waits for them.
//
// Memory that is allocated on one thread and freed on another takes the slow paths of the allocator on both, so answers
// are reused together with their buffers. Readers push an answer onto a stack, and the engine's thread takes the whole
// stack at once. Nothing is removed from the middle, so an answer cannot return to the stack while its successor is
// being read.
#include "../base/bytes.h"
#include "../base/text.h"
#include "../state/transfer_state.h"

#include <stdatomic.h>
#include <stdlib.h>

struct ce_answer_pool {
    _Atomic(ce_answer *) returned;
    atomic_uint returned_count; // an estimate: pushes in progress may be missing
    _Alignas(64) ce_answer *kept; // used by the engine's thread alone
};

ce_answer_pool *ce_answer_pool_create(void) {
    ce_answer_pool *pool = aligned_alloc(_Alignof(ce_answer_pool), sizeof *pool);
    if (!pool) return NULL;
    atomic_init(&pool->returned, NULL);
    atomic_init(&pool->returned_count, 0);
    pool->kept = NULL;
    return pool;
}

static void destroy_all(ce_answer *answer) {
    while (answer) {
        ce_answer *next = answer->next;
        ce_answer_destroy(answer);
        answer = next;
    }
}

void ce_answer_pool_destroy(ce_answer_pool *pool) {
    if (!pool) return;
    destroy_all(pool->kept);
    destroy_all(atomic_load_explicit(&pool->returned, memory_order_acquire));
    free(pool);
}

static ce_answer *take(ce_answer_pool *pool) {
    if (!pool->kept) {
        atomic_store_explicit(&pool->returned_count, 0, memory_order_relaxed);
        pool->kept = atomic_exchange_explicit(&pool->returned, NULL, memory_order_acquire);
    }
    ce_answer *answer = pool->kept;
    if (!answer) return calloc(1, sizeof *answer);
    pool->kept = answer->next;
    answer->next = NULL;
    return answer;
}

void ce_answer_give(ce_answer_pool *pool, ce_answer *answer) {
    if (atomic_fetch_add_explicit(&pool->returned_count, 1, memory_order_relaxed) >= CE_ANSWERS_KEPT) {
        return ce_answer_destroy(answer);
    }
    ce_bytes_reset(&answer->head);
    ce_bytes_reset(&answer->body);
    ce_bytes_free(&answer->trailers);
    ce_bytes_free(&answer->informational);
    free(answer->trust);
    *answer = (ce_answer){.head = answer->head, .body = answer->body};
    ce_answer *top = atomic_load_explicit(&pool->returned, memory_order_relaxed);
    do answer->next = top;
    while (!atomic_compare_exchange_weak_explicit(
        &pool->returned, &top, answer, memory_order_release, memory_order_relaxed));
}

void ce_answer_destroy(ce_answer *answer) {
    if (!answer) return;
    ce_bytes_free(&answer->head);
    ce_bytes_free(&answer->body);
    ce_bytes_free(&answer->trailers);
    ce_bytes_free(&answer->informational);
    free(answer->trust);
    free(answer);
}

// The transfer gets the answer's empty buffer with its memory.
static void exchange_bytes(ce_bytes *transfers, ce_bytes *answers) {
    ce_bytes taken = *transfers;
    *transfers = *answers;
    *answers = taken;
}

ce_answer *ce_transfer_take_answer(ce_transfer *transfer, ce_answer_pool *pool) {
    ce_buffers *buffers = &transfer->buffers;
    ce_answer *answer = take(pool);
    if (!answer) return NULL;
    answer->status = transfer->run.receive.status;
    exchange_bytes(&buffers->head, &answer->head);
    if (!transfer->run.receive.streams) { // the body of a stream and its trailers are still to come
        exchange_bytes(&buffers->body, &answer->body);
        exchange_bytes(&buffers->trailers, &answer->trailers);
    }
    exchange_bytes(&buffers->informational, &answer->informational);
    answer->timings = ce_transfer_timings(transfer);
    answer->send_count = transfer->run.send_count;
    ce_copy_text(answer->tls_version, sizeof answer->tls_version, transfer->run.gates.tls_version);
    ce_copy_text(answer->cipher, sizeof answer->cipher, transfer->run.gates.cipher);
    answer->trust = transfer->run.gates.trust;
    transfer->run.gates.trust = NULL;
    return answer;
}
