// Receives the head line by line, and the body as one buffer or as chunks. Nothing here calls Swift.
#include "receive.h"

#include "../base/bytes.h"
#include "../base/clock.h"
#include "../base/first_bytes.h"
#include "../base/text.h"
#include "../state/touched.h"
#include "codings.h"
#include "first_field.h"
#include "head_framing.h"
#include "head_refusals.h"

#include <string.h>

// The minimum allocation for a body, whose buffer is reused for later bodies, and how much is read of a response that
// only refuses an expectation.
enum { SMALL_BODY = 256, VOID_BODY_MAXIMUM = 64 * 1024 };

static size_t refuse(ce_transfer *transfer, ce_refusal refusal) {
    ce_transfer_refuse(transfer, refusal);
    return CURL_WRITEFUNC_ERROR;
}

// Whether the status turns a collected body into a stream, so that the reader can decide whether to read it.
static bool is_handed_over(const ce_transfer *transfer) {
    switch (transfer->run.receive.status) {
    case 301: case 302: case 303: case 307: case 308: return transfer->run.request.streams_redirects;
    case 401: return transfer->run.request.streams_challenges;
    case 408: case 421: case 425: case 429: case 500: case 502: case 503: case 504:
        return transfer->run.request.streams_retries;
    default: return false;
    }
}

// libcurl usually delivers one line per call, but the trailers of a paused stream in one piece.
static ce_refusal judge_lines(ce_transfer *transfer, const char *lines, size_t count) {
    while (count) {
        const char *feed = memchr(lines, '\n', count);
        size_t size = feed ? (size_t)(feed - lines) + 1 : count;
        ce_refusal refusal = ce_head_line_judge(transfer, lines, size);
        if (refusal != CE_REFUSED_NOT) return refusal;
        lines += size;
        count -= size;
    }
    return CE_REFUSED_NOT;
}

// Decides how the body after the final head is decoded and delivered.
static ce_refusal begin_body(ce_transfer *transfer) {
    ce_run_receive *receive = &transfer->run.receive;
    bool may_be_unwanted = is_handed_over(transfer);
    if (!ce_codings_skip_unknown(transfer)) return CE_REFUSED_MEMORY;
    ce_refusal refusal = ce_codings_judge(transfer);
    if (refusal != CE_REFUSED_NOT) {
        if (!may_be_unwanted || !ce_codings_stop(transfer)) return refusal;
        receive->body_refusal = refusal;
    } else if (receive->coding_count) {
        ce_codings_watch(transfer);
    }
    if (may_be_unwanted && !receive->streams) {
        ce_bytes_free(&transfer->buffers.body); // chunks are allocated by the pool
        receive->streams = true;
    }
    return CE_REFUSED_NOT;
}

size_t ce_on_header(char *line, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    ce_run *run = &transfer->run;
    ce_run_receive *receive = &run->receive;
    ce_buffers *buffers = &transfer->buffers;
    size_t count = size * items;
    run->last_activity_ms = transfer->handle.multi->loop->now_ms;
    // The request gate stops such a request before it is sent; this check guards against a fault here or in a later
    // libcurl. It is made with the head, because a streamed response is delivered before it ends.
    if (run->request.secure && run->gates.verdict != CE_VERDICT_TRUSTED) {
        refuse(transfer, CE_REFUSED_UNJUDGED);
        return 0;
    }
    // Keeps the refusal of a folded line before the first field: see first_field.c.
    if (run->refusal == CE_REFUSED_LINE) return 0;
    ce_refusal refusal = judge_lines(transfer, line, count);
    if (refusal != CE_REFUSED_NOT) {
        refuse(transfer, refusal);
        return 0;
    }
    if (buffers->head.count == 0 && !receive->head_done) {
        run->response_us = ce_now_us();
        if (run->gates.carrier) run->gates.carrier->has_responded = true;
        ce_await_first_field(transfer);
    }
    ce_bytes *block = receive->head_done ? &buffers->trailers : &buffers->head;
    if (!ce_bytes_append(block, line, count, 512)) {
        refuse(transfer, CE_REFUSED_MEMORY);
        return 0;
    }
    if (receive->head_done || !ce_is_line_end(line, count)) return count;
    long status = 0;
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_RESPONSE_CODE, &status);
    // libcurl lets some numbers of other lengths pass. Status 101 answers an upgrade, which no request asks for.
    if (status < 100 || status > 999 || status == 101) {
        refuse(transfer, CE_REFUSED_PROTOCOL);
        return 0;
    }
    if (status < 200) { // the final head is still to come
        ce_bytes_append(&buffers->informational, buffers->head.data, buffers->head.count, buffers->head.count);
        buffers->head.count = 0;
        ce_codings_forget(transfer);
    } else {
        receive->status = (int)status;
        refusal = ce_head_framing_is_sound(transfer) ? begin_body(transfer) : CE_REFUSED_FRAMING;
        if (refusal != CE_REFUSED_NOT) {
            receive->status = 0;
            refuse(transfer, refusal);
            return 0;
        }
        receive->head_done = true;
        // The request can be sent again without the expectation as long as its body can be sent from its beginning.
        receive->is_void = status == 417 && run->request.expects_continue && !run->send.has_begun;
        run->send.had_early_response = run->sent_us == 0 && run->request.gives_body;
        if (receive->streams && !receive->is_void) ce_transfer_touch(transfer);
    }
    return count;
}

static size_t collect(ce_transfer *transfer, const char *data, size_t count) {
    ce_run_receive *receive = &transfer->run.receive;
    ce_buffers *buffers = &transfer->buffers;
    size_t limit = transfer->run.request.body_limit;
    size_t first_capacity = count < 4096 ? 4096 : count;
    if (receive->body_total == 0) {
        curl_off_t expected = -1;
        curl_easy_getinfo(transfer->handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
        if (expected > 0 && (uint64_t)expected > limit) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
        // The server has announced the length but not sent the bytes yet. Beyond this size, memory grows with what
        // arrives.
        if (expected > 0) first_capacity = expected < CE_TRUSTED_LENGTH ? (size_t)expected : CE_TRUSTED_LENGTH;
        if (first_capacity < SMALL_BODY) first_capacity = SMALL_BODY;
        // The memory of an earlier body would have to grow step by step.
        if (buffers->body.capacity < first_capacity) ce_bytes_free(&buffers->body);
    }
    if (count > limit - receive->body_total) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
    if (!ce_bytes_append(&buffers->body, data, count, first_capacity)) return refuse(transfer, CE_REFUSED_MEMORY);
    receive->body_total += count;
    return count;
}

static bool push_chunk(ce_transfer *transfer) {
    ce_buffers *buffers = &transfer->buffers;
    if (buffers->chunk_count == CE_CHUNKS_MAXIMUM) return false;
    unsigned index = (buffers->chunk_first + buffers->chunk_count) % CE_CHUNKS_MAXIMUM;
    buffers->chunks[index] = ce_bytes_take(&buffers->body);
    buffers->chunk_count++;
    return true;
}

static size_t stream(ce_transfer *transfer, const char *data, size_t count) {
    ce_run_receive *receive = &transfer->run.receive;
    ce_buffers *buffers = &transfer->buffers;
    // libcurl keeps a copy of a refused piece, so this is the hard limit. The engine pauses the transfer earlier,
    // between two steps.
    if (buffers->chunk_count + 2 > CE_CHUNKS_MAXIMUM) {
        receive->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (count > transfer->run.request.body_limit - receive->body_total) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
    if (buffers->body.count && buffers->body.count + count > CE_CHUNK_SIZE) push_chunk(transfer);
    if (!buffers->body.data) {
        buffers->body.data = ce_chunk_take(transfer->handle.multi->loop->chunks);
        if (!buffers->body.data) return refuse(transfer, CE_REFUSED_MEMORY);
        buffers->body.capacity = CE_CHUNK_SIZE;
    }
    // A chunk never grows: libcurl delivers at most its buffer size, which is no larger than a chunk.
    if (count > CE_CHUNK_SIZE || !ce_bytes_append(&buffers->body, data, count, CE_CHUNK_SIZE)) {
        return refuse(transfer, CE_REFUSED_MEMORY);
    }
    receive->body_total += count;
    ce_transfer_touch(transfer);
    return count;
}

size_t ce_on_body(char *data, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    ce_run_receive *receive = &transfer->run.receive;
    transfer->run.last_activity_ms = transfer->handle.multi->loop->now_ms;
    size_t count = size * items;
    if (count == 0) return 0;
    // A response without a status line, or bytes in place of the final head after an informational one.
    if (!receive->head_done && transfer->buffers.head.count == 0) {
        receive->spoken = ce_first_bytes_judge(data, count);
        return refuse(transfer, CE_REFUSED_STATUS_LINE);
    }
    // Bytes before the final head do not belong to this response.
    if (!receive->head_done) return refuse(transfer, CE_REFUSED_FRAMING);
    if (receive->is_void) {
        receive->body_total += count;
        return receive->body_total > VOID_BODY_MAXIMUM ? CURL_WRITEFUNC_ERROR : count;
    }
    if (receive->draining) {
        if (count > receive->drain_left) return CURL_WRITEFUNC_ERROR;
        receive->drain_left -= count;
        return count;
    }
    if (receive->body_refusal != CE_REFUSED_NOT) return refuse(transfer, receive->body_refusal);
    if (ce_codings_expand_too_far(transfer, count)) return refuse(transfer, CE_REFUSED_EXPANSION);
    return receive->streams ? stream(transfer, data, count) : collect(transfer, data, count);
}

ce_bytes ce_transfer_take_chunk(ce_transfer *transfer, bool partial) {
    ce_buffers *buffers = &transfer->buffers;
    if (buffers->chunk_count) {
        ce_bytes taken = ce_bytes_take(&buffers->chunks[buffers->chunk_first]);
        buffers->chunk_first = (buffers->chunk_first + 1) % CE_CHUNKS_MAXIMUM;
        buffers->chunk_count--;
        return taken;
    }
    if (partial && buffers->body.count) return ce_bytes_take(&buffers->body);
    return (ce_bytes){0};
}

bool ce_transfer_drain(ce_transfer *transfer, size_t maximum) {
    ce_run_receive *receive = &transfer->run.receive;
    // Ending a single HTTP/2 stream does not close its connection.
    if (!receive->streams || !receive->head_done || transfer->run.gates.speaks_http2) return false;
    curl_off_t expected = -1, received = 0;
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    if (expected >= 0 && (uint64_t)(expected > received ? expected - received : 0) > maximum) return false;
    for (ce_bytes chunk; (chunk = ce_transfer_take_chunk(transfer, true)).data;) ce_chunk_give(chunk.data);
    receive->draining = true;
    receive->drain_left = maximum;
    return ce_transfer_pause_receiving(transfer, false) == 0;
}
