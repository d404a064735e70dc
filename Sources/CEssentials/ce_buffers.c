// What libcurl's callbacks do with bytes: nothing here calls Swift.
#include "buffers.h"

#include <stdlib.h>
#include <string.h>

// The least memory for a body, which is used for later ones as well.
enum { SMALL_BODY = 256 };

bool ce_bytes_append(ce_bytes *bytes, const void *data, size_t count, size_t first_capacity) {
    if (count > SIZE_MAX - bytes->count) return false;
    size_t needed = bytes->count + count;
    if (needed > bytes->capacity) {
        size_t capacity = bytes->capacity ? bytes->capacity : first_capacity;
        while (capacity < needed) capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
        char *grown = realloc(bytes->data, capacity);
        if (!grown) return false;
        bytes->data = grown;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->count, data, count);
    bytes->count = needed;
    return true;
}

void ce_bytes_free(ce_bytes *bytes) {
    free(bytes->data);
    *bytes = (ce_bytes){0};
}

void ce_bytes_reset(ce_bytes *bytes) {
    if (bytes->capacity > CE_ANSWER_BUFFER_KEPT) return ce_bytes_free(bytes);
    bytes->count = 0;
}

ce_bytes ce_bytes_take(ce_bytes *bytes) {
    ce_bytes taken = *bytes;
    *bytes = (ce_bytes){0};
    return taken;
}

// MARK: Response

static size_t refuse(ce_transfer *transfer, ce_refusal refusal) {
    if (transfer->refusal == CE_REFUSED_NOT) transfer->refusal = refusal;
    return CURL_WRITEFUNC_ERROR;
}

static bool is_blank(const char *line, size_t count) {
    return (count == 2 && line[0] == '\r' && line[1] == '\n') || (count == 1 && line[0] == '\n');
}

// Whether the status turns a collected body into a stream: its reader decides whether anybody wants it.
static bool is_handed_over(const ce_transfer *transfer) {
    switch (transfer->status) {
    case 301: case 302: case 303: case 307: case 308: return transfer->streams_redirects;
    case 401: return transfer->streams_challenges;
    default: return false;
    }
}

// libcurl calls back once for each line, but hands over the trailers of a paused stream in one piece.
static ce_refusal judge_lines(ce_transfer *transfer, const char *lines, size_t count) {
    while (count) {
        const char *feed = memchr(lines, '\n', count);
        size_t size = feed ? (size_t)(feed - lines) + 1 : count;
        ce_refusal refusal = ce_judge_head_line(transfer, lines, size);
        if (refusal != CE_REFUSED_NOT) return refusal;
        lines += size;
        count -= size;
    }
    return CE_REFUSED_NOT;
}

// Decides how the body after the final head is decoded and delivered.
static ce_refusal begin_body(ce_transfer *transfer) {
    bool may_be_unwanted = is_handed_over(transfer);
    ce_refusal refusal = ce_judge_codings(transfer);
    if (refusal != CE_REFUSED_NOT) {
        if (!may_be_unwanted || !ce_stop_decoding(transfer)) return refusal;
        transfer->body_refusal = refusal;
    } else if (transfer->coding_count) {
        ce_watch_decoder(transfer);
    }
    if (may_be_unwanted && !transfer->streaming) {
        ce_bytes_free(&transfer->body); // chunks come from elsewhere
        transfer->streaming = true;
    }
    return CE_REFUSED_NOT;
}

size_t ce_on_header(char *line, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    size_t count = size * items;
    transfer->last_activity_ms = transfer->multi->loop->now_ms;
    // Nothing gets here past the gate, unless by a fault of ours or of a libcurl to come. A streamed answer is handed out
    // before its end, and so it is not the end that is looked at.
    if (transfer->secure && transfer->verdict != CE_VERDICT_TRUSTED) {
        refuse(transfer, CE_REFUSED_UNJUDGED);
        return 0;
    }
    // A refusal that a fold before the first field has caused stands (see ce_first_field.c).
    if (transfer->refusal == CE_REFUSED_LINE) return 0;
    ce_refusal refusal = judge_lines(transfer, line, count);
    if (refusal != CE_REFUSED_NOT) {
        refuse(transfer, refusal);
        return 0;
    }
    if (transfer->head.count == 0 && !transfer->head_done) {
        transfer->answered_us = ce_now_us();
        ce_await_first_field(transfer);
    }
    ce_bytes *block = transfer->head_done ? &transfer->trailers : &transfer->head;
    if (!ce_bytes_append(block, line, count, 512)) {
        refuse(transfer, CE_REFUSED_MEMORY);
        return 0;
    }
    if (transfer->head_done || !is_blank(line, count)) return count;
    long status = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    // libcurl lets some numbers of other lengths pass. 101 answers an upgrade, which nobody asks for.
    if (status < 100 || status > 999 || status == 101) {
        refuse(transfer, CE_REFUSED_PROTOCOL);
        return 0;
    }
    if (status < 200) { // the final head is still to come
        ce_bytes_append(&transfer->informational, transfer->head.data, transfer->head.count, transfer->head.count);
        transfer->head.count = 0;
        ce_forget_codings(transfer);
    } else {
        transfer->status = (int)status;
        refusal = ce_head_is_sound(transfer) ? begin_body(transfer) : CE_REFUSED_FRAMING;
        if (refusal != CE_REFUSED_NOT) {
            transfer->status = 0;
            refuse(transfer, refusal);
            return 0;
        }
        transfer->head_done = true;
        transfer->was_answered_early = transfer->sent_us == 0 && transfer->gives_body;
        if (transfer->streaming) ce_transfer_touch(transfer);
    }
    return count;
}

// Whether a compressed body has unpacked to more than its size allows. Small ones may: a page of blanks is no attack.
static bool expands_too_far(const ce_transfer *transfer, size_t count) {
    if (!transfer->expansion_limit || !transfer->decompress) return false;
    size_t total = transfer->body_total + count;
    if (total <= CE_EXPANSION_FLOOR) return false;
    curl_off_t received = 0;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_DOWNLOAD_T, &received) != CURLE_OK || received <= 0) return false;
    return total / transfer->expansion_limit > (uint64_t)received;
}

static size_t collect(ce_transfer *transfer, const char *data, size_t count) {
    size_t first_capacity = count < 4096 ? 4096 : count;
    if (transfer->body_total == 0) {
        curl_off_t expected = -1;
        curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
        if (expected > 0 && (uint64_t)expected > transfer->body_limit) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
        // A server that announces much has not sent it yet: beyond this, memory follows what comes.
        if (expected > 0) first_capacity = expected < CE_TRUSTED_LENGTH ? (size_t)expected : CE_TRUSTED_LENGTH;
        if (first_capacity < SMALL_BODY) first_capacity = SMALL_BODY;
        // What is left of an earlier body would grow step by step.
        if (transfer->body.capacity < first_capacity) ce_bytes_free(&transfer->body);
    }
    if (count > transfer->body_limit - transfer->body_total) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
    if (!ce_bytes_append(&transfer->body, data, count, first_capacity)) return refuse(transfer, CE_REFUSED_MEMORY);
    transfer->body_total += count;
    return count;
}

static bool push_chunk(ce_transfer *transfer) {
    if (transfer->chunk_count == CE_CHUNKS_MAXIMUM) return false;
    unsigned index = (transfer->chunk_first + transfer->chunk_count) % CE_CHUNKS_MAXIMUM;
    transfer->chunks[index] = ce_bytes_take(&transfer->body);
    transfer->chunk_count++;
    return true;
}

static size_t stream(ce_transfer *transfer, const char *data, size_t count) {
    // Refusing a piece makes libcurl keep a copy of it, so this is the hard limit; the soft one is the engine's, which
    // pauses the transfer between two steps.
    if (transfer->chunk_count + 2 > CE_CHUNKS_MAXIMUM) {
        transfer->receive_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    if (count > transfer->body_limit - transfer->body_total) return refuse(transfer, CE_REFUSED_BODY_LIMIT);
    if (transfer->body.count && transfer->body.count + count > CE_CHUNK_SIZE) push_chunk(transfer);
    if (!transfer->body.data) {
        transfer->body.data = ce_chunk_take(transfer->multi->loop->chunks);
        if (!transfer->body.data) return refuse(transfer, CE_REFUSED_MEMORY);
        transfer->body.capacity = CE_CHUNK_SIZE;
    }
    // Never grows: libcurl hands over no more than its buffer holds, which is no larger than a chunk.
    if (count > CE_CHUNK_SIZE || !ce_bytes_append(&transfer->body, data, count, CE_CHUNK_SIZE)) {
        return refuse(transfer, CE_REFUSED_MEMORY);
    }
    transfer->body_total += count;
    ce_transfer_touch(transfer);
    return count;
}

size_t ce_on_body(char *data, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    transfer->last_activity_ms = transfer->multi->loop->now_ms;
    size_t count = size * items;
    if (count == 0) return 0;
    // What is no part of this response, whatever it is, is not handed out as one.
    if (!transfer->head_done) return refuse(transfer, CE_REFUSED_FRAMING);
    if (transfer->draining) {
        if (count > transfer->drain_left) return CURL_WRITEFUNC_ERROR;
        transfer->drain_left -= count;
        return count;
    }
    if (transfer->body_refusal != CE_REFUSED_NOT) return refuse(transfer, transfer->body_refusal);
    if (expands_too_far(transfer, count)) return refuse(transfer, CE_REFUSED_EXPANSION);
    return transfer->streaming ? stream(transfer, data, count) : collect(transfer, data, count);
}

ce_bytes ce_transfer_take_chunk(ce_transfer *transfer, bool partial) {
    if (transfer->chunk_count) {
        ce_bytes taken = ce_bytes_take(&transfer->chunks[transfer->chunk_first]);
        transfer->chunk_first = (transfer->chunk_first + 1) % CE_CHUNKS_MAXIMUM;
        transfer->chunk_count--;
        return taken;
    }
    if (partial && transfer->body.count) return ce_bytes_take(&transfer->body);
    return (ce_bytes){0};
}

bool ce_transfer_drain(ce_transfer *transfer, size_t maximum) {
    // Ending one HTTP/2 stream costs its connection nothing.
    if (!transfer->streaming || !transfer->head_done || transfer->speaks_http2) return false;
    curl_off_t expected = -1, received = 0;
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &expected);
    curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_DOWNLOAD_T, &received);
    if (expected >= 0 && (uint64_t)(expected > received ? expected - received : 0) > maximum) return false;
    for (ce_bytes chunk; (chunk = ce_transfer_take_chunk(transfer, true)).data;) ce_chunk_give(chunk.data);
    transfer->draining = true;
    transfer->drain_left = maximum;
    return ce_transfer_pause_receiving(transfer, false) == 0;
}

// MARK: Request

// A sending that begins anew, after a kept connection turned out dead. Only what is lent can be read again.
int ce_on_seek(void *user, curl_off_t offset, int origin) {
    ce_transfer *transfer = user;
    if (!transfer->read_body || origin != SEEK_SET || offset < 0 || offset > transfer->upload_left) {
        return CURL_SEEKFUNC_FAIL;
    }
    transfer->lent_offset = offset;
    return CURL_SEEKFUNC_OK;
}

static size_t read_lent(ce_transfer *transfer, char *buffer, size_t size) {
    // libcurl was told the length, so that is where it stops asking.
    int64_t left = transfer->upload_left - transfer->lent_offset;
    size_t count = left < (int64_t)size ? (size_t)left : size;
    if (count) transfer->read_body(transfer->owner, transfer->lent_offset, buffer, count);
    transfer->lent_offset += (int64_t)count;
    if (transfer->lent_offset == transfer->upload_left) transfer->sent_us = ce_now_us();
    return count;
}

size_t ce_on_upload(char *buffer, size_t size, size_t items, void *user) {
    ce_transfer *transfer = user;
    transfer->last_activity_ms = transfer->multi->loop->now_ms;
    if (transfer->read_body) return read_lent(transfer, buffer, size * items);
    if (transfer->upload_failed) {
        refuse(transfer, CE_REFUSED_UPLOAD);
        return CURL_READFUNC_ABORT;
    }
    ce_supply supply = transfer->take_body(transfer->owner, buffer, size * items);
    // More than the announced length would be read by the server as a request of its own; less, as a body still to come.
    bool is_over = transfer->upload_left >= 0 && supply.available > (uint64_t)transfer->upload_left;
    bool is_short = supply.available == 0 && supply.ended && transfer->upload_left > 0;
    if (is_over || is_short) {
        refuse(transfer, CE_REFUSED_UPLOAD_LENGTH);
        return CURL_READFUNC_ABORT;
    }
    if (supply.count || supply.ended) transfer->upload_begun = true;
    if (supply.count == 0) {
        if (supply.ended) {
            transfer->sent_us = ce_now_us();
            return 0;
        }
        transfer->send_paused = true;
        ce_look_paused(transfer);
        return CURL_READFUNC_PAUSE;
    }
    if (transfer->upload_left >= 0) transfer->upload_left -= (int64_t)supply.count;
    if (transfer->upload_left == 0) transfer->sent_us = ce_now_us();
    return supply.count;
}

int ce_transfer_apply_pauses(ce_transfer *transfer) {
    int mask = (transfer->receive_paused ? CURLPAUSE_RECV : 0) | (transfer->send_paused ? CURLPAUSE_SEND : 0);
    return (int)curl_easy_pause(transfer->easy, mask);
}

int ce_transfer_pause_receiving(ce_transfer *transfer, bool paused) {
    if (transfer->receive_paused == paused) return 0;
    transfer->receive_paused = paused;
    transfer->last_activity_ms = transfer->multi->loop->now_ms;
    return ce_transfer_apply_pauses(transfer);
}

bool ce_transfer_receiving_is_paused(const ce_transfer *transfer) { return transfer->receive_paused; }

bool ce_transfer_sending_is_paused(const ce_transfer *transfer) { return transfer->send_paused; }

static int go_on_sending(ce_transfer *transfer) {
    if (!transfer->send_paused) return 0;
    transfer->send_paused = false;
    return ce_transfer_apply_pauses(transfer);
}

int ce_transfer_resume_upload(ce_transfer *transfer) { return go_on_sending(transfer); }

int ce_transfer_fail_upload(ce_transfer *transfer) {
    transfer->upload_failed = true;
    return go_on_sending(transfer);
}
