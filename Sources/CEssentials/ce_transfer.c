// Easy handles: start, abort, and what is read from them afterwards.
#include "buffers.h"

#include <stdlib.h>
#include <string.h>

// MARK: Life

static bool renew(ce_transfer *transfer) {
    if (transfer->easy) curl_easy_cleanup(transfer->easy);
    transfer->easy = curl_easy_init();
    transfer->is_fresh = true;
    transfer->awaits_field = transfer->has_post_fields = transfer->reports_progress = transfer->holds_buffer = false;
    transfer->buffer_size = transfer->upload_buffer_size = 0;
    transfer->multi = NULL;
    return transfer->easy && ce_options_set_once(transfer);
}

ce_transfer *ce_transfer_create(void) {
    ce_transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer) return NULL;
    transfer->url = curl_url();
    if (!transfer->url || !renew(transfer)) {
        ce_transfer_destroy(transfer);
        return NULL;
    }
    return transfer;
}

static void clear_buffers(ce_transfer *transfer) {
    ce_bytes_reset(&transfer->head);
    if (transfer->streaming) {
        ce_chunk_give(transfer->body.data);
        transfer->body = (ce_bytes){0};
    }
    ce_bytes_reset(&transfer->body);
    ce_bytes_free(&transfer->trailers);
    ce_bytes_free(&transfer->informational);
    for (ce_bytes chunk; (chunk = ce_transfer_take_chunk(transfer, false)).data;) ce_chunk_give(chunk.data);
    ce_connection_release(transfer->connection);
    transfer->connection = NULL;
    ce_connection_release(transfer->carrier);
    transfer->carrier = NULL;
}

static void leave_touched_list(ce_transfer *transfer) {
    if (!transfer->touched) return;
    ce_loop *loop = transfer->multi->loop;
    ce_transfer *previous = NULL;
    for (ce_transfer *item = loop->touched_first; item; previous = item, item = item->next_touched) {
        if (item != transfer) continue;
        if (previous) previous->next_touched = item->next_touched;
        else loop->touched_first = item->next_touched;
        if (loop->touched_last == item) loop->touched_last = previous;
        break;
    }
    transfer->touched = false;
}

void ce_transfer_destroy(ce_transfer *transfer) {
    if (!transfer) return;
    leave_touched_list(transfer);
    ce_look_begin(transfer);
    if (transfer->easy) curl_easy_cleanup(transfer->easy);
    if (transfer->url) curl_url_cleanup(transfer->url);
    clear_buffers(transfer);
    ce_bytes_free(&transfer->head);
    ce_bytes_free(&transfer->body);
    ce_options_free(transfer);
    free(transfer->report);
    free(transfer);
}

static void begin(ce_transfer *transfer, const ce_loop *loop, const ce_request *request) {
    clear_buffers(transfer);
    ce_await_no_field(transfer);
    transfer->secure = request->secure;
    transfer->idempotent = request->idempotent;
    transfer->streaming = request->streaming;
    if (transfer->streaming) ce_bytes_free(&transfer->body); // chunks come from elsewhere
    transfer->http_version = request->http_version;
    ce_copy_text(transfer->host, CE_HOST_SIZE, request->host);
    transfer->host_is_address = request->host_is_address;
    transfer->rule = request->rule;
    transfer->proxy_rule = request->proxy_rule;
    transfer->proxy_is_secure = request->proxy_host != NULL;
    transfer->proxy_is_address = request->proxy_is_address;
    transfer->handshakes = 0;
    ce_copy_text(transfer->proxy_host, CE_HOST_SIZE, request->proxy_host ? request->proxy_host : "");
    transfer->missed_pins = transfer->blames_proxy = false;
    transfer->send_count = transfer->gate_count = 0;
    transfer->ended_well = false;
    transfer->status = 0;
    transfer->head_done = false;
    transfer->head_limit = request->head_limit;
    transfer->head_line_limit = request->head_line_limit;
    transfer->streams_redirects = request->streams_redirects;
    transfer->streams_challenges = request->streams_challenges;
    ce_forget_codings(transfer);
    transfer->body_refusal = CE_REFUSED_NOT;
    transfer->decoder_output = 0;
    transfer->decoder_input = 0;
    transfer->body_limit = request->body_limit;
    transfer->expansion_limit = request->expansion_limit;
    transfer->draining = false;
    transfer->started_us = transfer->sent_us = transfer->answered_us = 0;
    transfer->read_body = request->body_kind == CE_BODY_LENT ? request->read_body : NULL;
    transfer->lent_offset = 0;
    transfer->take_body = request->body_kind == CE_BODY_STREAM ? request->take_body : NULL;
    transfer->has_request_body = request->body_kind != CE_BODY_NONE;
    transfer->gives_body = request->body_kind == CE_BODY_STREAM || request->body_kind == CE_BODY_LENT;
    transfer->was_answered_early = false;
    transfer->body_total = transfer->head_total = transfer->head_lines = 0;
    transfer->last_activity_ms = loop->now_ms;
    transfer->refusal = CE_REFUSED_NOT;
    transfer->lacked_resources = false;
    transfer->verdict = CE_VERDICT_NONE;
    free(transfer->report);
    transfer->report = NULL;
    transfer->tls_version[0] = transfer->cipher[0] = transfer->error_text[0] = 0;
    transfer->receive_paused = transfer->send_paused = false;
    transfer->upload_left = request->body_length;
    transfer->moved_bytes = 0;
    transfer->upload_begun = transfer->upload_failed = false;
    transfer->speaks_http2 = transfer->has_length = transfer->is_chunked = false;
    transfer->is_head = strcmp(request->method, "HEAD") == 0;
    transfer->socket = -1;
    leave_touched_list(transfer);
    ce_look_begin(transfer);
}

// Whether a handle carries nothing from its request to the next. libcurl resets most of its state when a transfer begins,
// and not: how often it has tried again, that a body has to be rewound, that a server wanted no 100 Continue, a proxy's
// password for a request that was not sent, and what a reader has not taken of a body. The first four come of a transfer
// that failed, was taken away, or was sent again. The last, and the buffer, stay where other streams use the connection
// when a transfer ends: libcurl refuses to set the buffer's size then.
static bool is_clean(ce_transfer *transfer) {
    if (!transfer->ended_well || transfer->status == 417) return false;
    transfer->holds_buffer = curl_easy_setopt(transfer->easy, CURLOPT_BUFFERSIZE, transfer->buffer_size) != CURLE_OK;
    return !transfer->holds_buffer || !transfer->streaming;
}

bool ce_transfer_rest(ce_transfer *transfer) {
    clear_buffers(transfer);
    if (!is_clean(transfer)) return false;
    if (!transfer->has_post_fields) return true;
    curl_easy_setopt(transfer->easy, CURLOPT_COPYPOSTFIELDS, NULL);
    transfer->has_post_fields = false;
    return true;
}

const char *ce_transfer_prepare(ce_transfer *transfer, ce_multi *multi, const ce_request *request, int *curl_code) {
    if (strlen(request->host) >= CE_HOST_SIZE) {
        *curl_code = CURLE_URL_MALFORMAT;
        return "host";
    }
    begin(transfer, multi->loop, request);
    if (transfer->holds_buffer && transfer->buffer_size != ce_buffer_size(request) && !renew(transfer)) {
        *curl_code = CURLE_OUT_OF_MEMORY;
        return "curl_easy_init";
    }
    return ce_options_set(transfer, multi, request, curl_code);
}

// MARK: Run

int ce_transfer_start(ce_transfer *transfer) {
    CURLMcode code = curl_multi_add_handle(transfer->multi->curl, transfer->easy);
    transfer->running = code == CURLM_OK;
    if (transfer->running) ce_multi_set_running(transfer->multi, transfer->multi->running + 1);
    transfer->started_us = ce_now_us();
    return (int)code;
}

void ce_transfer_abort(ce_transfer *transfer) {
    if (!transfer->running) return;
    transfer->running = false;
    curl_multi_remove_handle(transfer->multi->curl, transfer->easy);
    ce_multi_set_running(transfer->multi, transfer->multi->running - 1);
    leave_touched_list(transfer);
    ce_look_begin(transfer);
}

// MARK: Read

void ce_transfer_set_owner(ce_transfer *transfer, void *owner) { transfer->owner = owner; }
void *ce_transfer_owner(const ce_transfer *transfer) { return transfer->owner; }
int ce_transfer_status(const ce_transfer *transfer) { return transfer->status; }
bool ce_transfer_has_first_byte(const ce_transfer *transfer) { return transfer->head_total > 0; }
bool ce_transfer_streams(const ce_transfer *transfer) { return transfer->streaming; }
bool ce_transfer_has_head(const ce_transfer *transfer) { return transfer->head_done; }
ce_bytes ce_transfer_take_trailers(ce_transfer *transfer) { return ce_bytes_take(&transfer->trailers); }
ce_refusal ce_transfer_refusal(const ce_transfer *transfer) { return transfer->refusal; }
bool ce_transfer_lacked_resources(const ce_transfer *transfer) { return transfer->lacked_resources; }
const char *ce_transfer_error_text(const ce_transfer *transfer) { return transfer->error_text; }
const char *ce_curl_text(int curl_code) { return curl_easy_strerror((CURLcode)curl_code); }
unsigned ce_transfer_send_count(const ce_transfer *transfer) { return transfer->send_count; }


// A refused request reports through the transfer, a refused handshake through its connection.
const ce_report *ce_transfer_report(const ce_transfer *transfer) {
    if (transfer->report && !transfer->missed_pins) return transfer->report;
    return transfer->connection ? &transfer->connection->report : NULL;
}

bool ce_transfer_report_is_of_proxy(const ce_transfer *transfer) {
    if (transfer->blames_proxy) return true;
    bool is_of_request = transfer->report && !transfer->missed_pins;
    return !is_of_request && transfer->connection && transfer->connection->is_proxy;
}

const ce_report *ce_transfer_missed_pins(const ce_transfer *transfer) {
    if (!transfer->missed_pins) return NULL;
    // The handshake's report has the certificates' subjects; a resumed session's evidence has their digests.
    if (transfer->carrier && transfer->carrier->report.chain_count) return &transfer->carrier->report;
    return transfer->report;
}

bool ce_transfer_was_cut(const ce_transfer *transfer) {
    if (!transfer->carrier || transfer->speaks_http2 || !transfer->head_done || transfer->is_head) return false;
    if (transfer->has_length || transfer->is_chunked || transfer->status == 204 || transfer->status == 304) return false;
    return !transfer->carrier->was_closed;
}

bool ce_transfer_on_kept_connection(const ce_transfer *transfer) {
    long opened = 0;
    return curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &opened) == CURLE_OK && opened == 0;
}

static int64_t read_time(CURL *easy, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? (int64_t)value : 0;
}

static long read_long(CURL *easy, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

bool ce_transfer_may_have_bytes(const ce_transfer *transfer) {
    return read_time(transfer->easy, CURLINFO_STARTTRANSFER_TIME_T) > 0;
}

int64_t ce_transfer_last_activity_ms(ce_transfer *transfer) {
    CURL *easy = transfer->easy;
    int64_t moved = read_time(easy, CURLINFO_SIZE_UPLOAD_T) + read_time(easy, CURLINFO_SIZE_DOWNLOAD_T) +
                    read_long(easy, CURLINFO_HEADER_SIZE);
    if (moved != transfer->moved_bytes) {
        transfer->moved_bytes = moved;
        transfer->last_activity_ms = ce_now_ms();
    }
    return transfer->last_activity_ms;
}

long ce_transfer_http_version(const ce_transfer *transfer) {
    long version = read_long(transfer->easy, CURLINFO_HTTP_VERSION);
    return version == CURL_HTTP_VERSION_2_0 ? 20 : version == CURL_HTTP_VERSION_1_0 ? 10 : 11;
}

ce_timings ce_transfer_timings(const ce_transfer *transfer) {
    CURL *easy = transfer->easy;
    ce_timings timings = {
        .began_us = read_time(easy, CURLINFO_PRETRANSFER_TIME_T),
        .sent_us = transfer->sent_us ? transfer->sent_us - transfer->started_us : 0,
        // libcurl's own is when an upload begins, where there is one.
        .first_byte_us = transfer->answered_us ? transfer->answered_us - transfer->started_us : 0,
        .total_us = ce_now_us() - transfer->started_us,
        .body_bytes_received = read_time(easy, CURLINFO_SIZE_DOWNLOAD_T),
        .body_bytes_sent = transfer->reports_progress ? read_time(easy, CURLINFO_SIZE_UPLOAD_T) : 0,
        .reused = transfer->send_count > 0 && ce_transfer_on_kept_connection(transfer),
        .peer_port = read_long(easy, CURLINFO_PRIMARY_PORT),
    };
    if (!timings.reused) {
        timings.resolved_us = read_time(easy, CURLINFO_NAMELOOKUP_TIME_T);
        timings.connected_us = read_time(easy, CURLINFO_CONNECT_TIME_T);
        timings.secured_us = read_time(easy, CURLINFO_APPCONNECT_TIME_T);
    }
    timings.http_version = ce_transfer_http_version(transfer);
    char *address = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK && address) {
        ce_copy_text(timings.peer_address, sizeof timings.peer_address, address);
    }
    return timings;
}
