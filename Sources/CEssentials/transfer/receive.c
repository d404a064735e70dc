// The response: its head line by line, and its body as one buffer or as chunks. Nothing here calls Swift.
#include "receive.h"

#include "../base/text.h"
#include "../base/bytes.h"
#include "../base/clock.h"
#include "../state/touched.h"
#include "codings.h"
#include "first_field.h"
#include "head_framing.h"
#include "head_lines.h"

#include <string.h>

// The least memory for a body, which is used for later ones as well.
enum { SMALL_BODY = 256 };

static size_t refuse(ce_transfer *transfer, ce_refusal refusal) {
    ce_transfer_refuse(transfer, refusal);
    return CURL_WRITEFUNC_ERROR;
}

// Whether the status turns a collected body into a stream: its reader decides whether anybody wants it.
static bool is_handed_over(const ce_transfer *transfer) {
    switch (transfer->run.receive.status) {
    case 301: case 302: case 303: case 307: case 308: return transfer->run.request.streams_redirects;
    case 401: return transfer->run.request.streams_challenges;
    default: return false;
    }
}

// libcurl calls back once for each line, but hands over the trailers of a paused stream in one piece.
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
    bool may_be_unwanted = is_handed_over(transfer);
    ce_refusal refusal = ce_codings_judge(transfer);
    if (refusal != CE_REFUSED_NOT) {
        if (!may_be_unwanted || !ce_codings_stop(transfer)) return refusal;
        transfer->run.receive.body_refusal = refusal;
    } else if (transfer->run.receive.coding_count) {
        ce_codings_watch(transfer);
    }
    if (may_be_unwanted && !transfer->run.receive.streams) {
        ce_bytes_free(&transfer->buffers.body); // chunks come from elsewhere
        transfer->run.receive.streams = true;
    }
    return CE_REFUSED_NOT;
}

size_t ce_on_header(char *line, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    size_t count = size * items;
    transfer->run.last_activity_ms = transfer->handle.multi->loop->now_ms;
    // Nothing gets here past the gate, unless by a fault of ours or of a libcurl to come. A streamed answer is handed out
    // before its end, and so it is not the end that is looked at.
    if (transfer->run.request.secure && transfer->run.gates.verdict != CE_VERDICT_TRUSTED) {
        refuse(transfer, CE_REFUSED_UNJUDGED);
        return 0;
    }
    // A refusal that a fold before the first field has caused stands (see ce_first_field.c).
    if (transfer->run.refusal == CE_REFUSED_LINE) return 0;
    ce_refusal refusal = judge_lines(transfer, line, count);
    if (refusal != CE_REFUSED_NOT) {
        refuse(transfer, refusal);
        return 0;
    }
    if (transfer->buffers.head.count == 0 && !transfer->run.receive.head_done) {
        transfer->run.answered_us = ce_now_us();
        ce_await_first_field(transfer);
    }
    ce_bytes *block = transfer->run.receive.head_done ? &transfer->buffers.trailers : &transfer->buffers.head;
    if (!ce_bytes_append(block, line, count, 512)) {
        refuse(transfer, CE_REFUSED_MEMORY);
        return 0;
    }
    if (transfer->run.receive.head_done || !ce_is_line_end(line, count)) return count;
    long status = 0;
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_RESPONSE_CODE, &status);
    // libcurl lets some numbers of other lengths pass. 101 answers an upgrade, which nobody asks for.
    if (status < 100 || status > 999 || status == 101) {
        refuse(transfer, CE_REFUSED_PROTOCOL);
        return 0;
    }
    if (status < 200) { // the final head is still to come
        ce_bytes_append(&transfer->buffers.informational, transfer->buffers.head.data, transfer->buffers.head.count, transfer->buffers.head.count);
        transfer->buffers.head.count = 0;
        ce_codings_forget(transfer);
    } else {
        transfer->run.receive.status = (int)status;
        refusal = ce_head_framing_is_sound(transfer) ? begin_body(transfer) : CE_REFUSED_FRAMING;
        if (refusal != CE_REFUSED_NOT) {
            transfer->run.receive.status = 0;
            refuse(transfer, refusal);
            return 0;
        }
        transfer->run.receive.head_done = true;
        transfer->run.send.was_answered_early = transfer->run.sent_us == 0 && transfer->run.request.gives_body;
        if (transfer->run.receive.streams) ce_transfer_touch(transfer);
    }
    return count;
}

static size_t collect(ce_transfer *transfer, const char *data, size_t count) {
    size_t first_capacity = count < 4096 ? 4096 : count;
    if (transfer->run.receive.body_total == 0) {
        curl_off_t expected = -1;
        curl_easy_getinfo(transfer->handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
        if (expected > 0 && (uint64_t)expected > transfer->run.request.body_limit) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
        // A server that announces much has not sent it yet: beyond this, memory follows what comes.
        if (expected > 0) first_capacity = expected < CE_TRUSTED_LENGTH ? (size_t)expected : CE_TRUSTED_LENGTH;
        if (first_capacity < SMALL_BODY) first_capacity = SMALL_BODY;
        // What is left of an earlier body would grow step by step.
        if (transfer->buffers.body.capacity < first_capacity) ce_bytes_free(&transfer->buffers.body);
    }
    if (count > transfer->run.request.body_limit - transfer->run.receive.body_total) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
    if (!ce_bytes_append(&transfer->buffers.body, data, count, first_capacity)) return refuse(transfer, CE_REFUSED_MEMORY);
    transfer->run.receive.body_total += count;
    return count;
}

static bool push_chunk(ce_transfer *transfer) {
    if (transfer->buffers.chunk_count == CE_CHUNKS_MAXIMUM) return false;
    unsigned index = (transfer->buffers.chunk_first + transfer->buffers.chunk_count) % CE_CHUNKS_MAXIMUM;
    transfer->buffers.chunks[index] = ce_bytes_take(&transfer->buffers.body);
    transfer->buffers.chunk_count++;
    return true;
}

static size_t stream(ce_transfer *transfer, const char *data, size_t count) {
    // Refusing a piece makes libcurl keep a copy of it, so this is the hard limit; the soft one is the engine's, which
    // pauses the transfer between two steps.
    if (transfer->buffers.chunk_count + 2 > CE_CHUNKS_MAXIMUM) {
        transfer->run.receive.is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (count > transfer->run.request.body_limit - transfer->run.receive.body_total) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
    if (transfer->buffers.body.count && transfer->buffers.body.count + count > CE_CHUNK_SIZE) push_chunk(transfer);
    if (!transfer->buffers.body.data) {
        transfer->buffers.body.data = ce_chunk_take(transfer->handle.multi->loop->chunks);
        if (!transfer->buffers.body.data) return refuse(transfer, CE_REFUSED_MEMORY);
        transfer->buffers.body.capacity = CE_CHUNK_SIZE;
    }
    // Never grows: libcurl hands over no more than its buffer holds, which is no larger than a chunk.
    if (count > CE_CHUNK_SIZE || !ce_bytes_append(&transfer->buffers.body, data, count, CE_CHUNK_SIZE)) {
        return refuse(transfer, CE_REFUSED_MEMORY);
    }
    transfer->run.receive.body_total += count;
    ce_transfer_touch(transfer);
    return count;
}

size_t ce_on_body(char *data, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    transfer->run.last_activity_ms = transfer->handle.multi->loop->now_ms;
    size_t count = size * items;
    if (count == 0) return 0;
    // What is no part of this response, whatever it is, is not handed out as one.
    if (!transfer->run.receive.head_done) return refuse(transfer, CE_REFUSED_FRAMING);
    if (transfer->run.receive.draining) {
        if (count > transfer->run.receive.drain_left) return CURL_WRITEFUNC_ERROR;
        transfer->run.receive.drain_left -= count;
        return count;
    }
    if (transfer->run.receive.body_refusal != CE_REFUSED_NOT) return refuse(transfer, transfer->run.receive.body_refusal);
    if (ce_codings_expand_too_far(transfer, count)) return refuse(transfer, CE_REFUSED_EXPANSION);
    return transfer->run.receive.streams ? stream(transfer, data, count) : collect(transfer, data, count);
}

ce_bytes ce_transfer_take_chunk(ce_transfer *transfer, bool partial) {
    if (transfer->buffers.chunk_count) {
        ce_bytes taken = ce_bytes_take(&transfer->buffers.chunks[transfer->buffers.chunk_first]);
        transfer->buffers.chunk_first = (transfer->buffers.chunk_first + 1) % CE_CHUNKS_MAXIMUM;
        transfer->buffers.chunk_count--;
        return taken;
    }
    if (partial && transfer->buffers.body.count) return ce_bytes_take(&transfer->buffers.body);
    return (ce_bytes){0};
}

bool ce_transfer_drain(ce_transfer *transfer, size_t maximum) {
    // Ending one HTTP/2 stream costs its connection nothing.
    if (!transfer->run.receive.streams || !transfer->run.receive.head_done || transfer->run.gates.speaks_http2) return false;
    curl_off_t expected = -1, received = 0;
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
    curl_easy_getinfo(transfer->handle.easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    if (expected >= 0 && (uint64_t)(expected > received ? expected - received : 0) > maximum) return false;
    for (ce_bytes chunk; (chunk = ce_transfer_take_chunk(transfer, true)).data;) ce_chunk_give(chunk.data);
    transfer->run.receive.draining = true;
    transfer->run.receive.drain_left = maximum;
    return ce_transfer_pause_receiving(transfer, false) == 0;
}
