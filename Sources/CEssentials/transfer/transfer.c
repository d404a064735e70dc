// Easy handles and their requests: creation, start, end, and what the engine reads of them afterwards.
#include "../base/bytes.h"
#include "../base/clock.h"
#include "../base/text.h"
#include "../state/touched.h"
#include "early_responses.h"
#include "first_field.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

// MARK: Life

static void free_handle(ce_transfer *transfer) {
    if (transfer->handle.easy) curl_easy_cleanup(transfer->handle.easy);
    ce_options_free(&transfer->handle);
    transfer->handle = (ce_handle){0};
}

static bool renew_handle(ce_transfer *transfer) {
    free_handle(transfer);
    transfer->handle.easy = curl_easy_init();
    return transfer->handle.easy && ce_options_set_once(transfer);
}

ce_transfer *ce_transfer_create(void) {
    ce_transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer) return NULL;
    transfer->url = curl_url();
    if (!transfer->url || !renew_handle(transfer)) {
        ce_transfer_destroy(transfer);
        return NULL;
    }
    return transfer;
}

static void empty_buffers(ce_transfer *transfer) {
    ce_buffers *buffers = &transfer->buffers;
    for (ce_bytes chunk; (chunk = ce_transfer_take_chunk(transfer, false)).data;) ce_chunk_give(chunk.data);
    if (transfer->run.receive.streams) {
        ce_chunk_give(buffers->body.data);
        buffers->body = (ce_bytes){0};
    }
    ce_bytes_reset(&buffers->head);
    ce_bytes_reset(&buffers->body);
    ce_bytes_free(&buffers->trailers);
    ce_bytes_free(&buffers->informational);
    *buffers = (ce_buffers){.head = buffers->head, .body = buffers->body};
}

// Releases everything that belongs to the last request.
static void end_run(ce_transfer *transfer) {
    ce_transfer_untouch(transfer);
    ce_early_response_reset(transfer);
    empty_buffers(transfer);
    ce_connection_release(transfer->run.gates.connection);
    ce_connection_release(transfer->run.gates.carrier);
    free(transfer->run.gates.report);
    transfer->run = (ce_run){0};
}

void ce_transfer_destroy(ce_transfer *transfer) {
    if (!transfer) return;
    // The lists are left first, because they are found through the handle's multi. The run is released last, because libcurl
    // writes its error text there.
    ce_transfer_untouch(transfer);
    ce_early_response_reset(transfer);
    free_handle(transfer);
    end_run(transfer);
    if (transfer->url) curl_url_cleanup(transfer->url);
    ce_bytes_free(&transfer->buffers.head);
    ce_bytes_free(&transfer->buffers.body);
    free(transfer->origin);
    free(transfer);
}

static ce_run_request copy_request(const ce_request *request) {
    bool is_lent = request->body_kind == CE_BODY_LENT, is_stream = request->body_kind == CE_BODY_STREAM;
    ce_run_request copy = {
        .rule = request->rule,
        .proxy_rule = request->proxy_rule,
        .host_is_address = request->host_is_address,
        .proxy_is_secure = request->proxy_host != NULL,
        .proxy_is_address = request->proxy_is_address,
        .secure = request->secure,
        .idempotent = request->idempotent,
        .is_head = strcmp(request->method, "HEAD") == 0,
        .http_version = request->http_version,
        .head_limit = request->head_limit,
        .head_line_limit = request->head_line_limit,
        .body_limit = request->body_limit,
        .expansion_limit = request->expansion_limit,
        .streams_redirects = request->streams_redirects,
        .streams_challenges = request->streams_challenges,
        .has_body = request->body_kind != CE_BODY_NONE,
        .gives_body = is_stream || is_lent,
        .read_body = is_lent ? request->read_body : NULL,
        .take_body = is_stream ? request->take_body : NULL,
    };
    ce_copy_text(copy.host, CE_HOST_SIZE, request->host);
    ce_copy_text(copy.proxy_host, CE_HOST_SIZE, request->proxy_host ? request->proxy_host : "");
    return copy;
}

static void begin_run(ce_transfer *transfer, const ce_loop *loop, const ce_request *request) {
    end_run(transfer);
    ce_await_no_field(transfer);
    if (request->streaming) ce_bytes_free(&transfer->buffers.body); // chunks are allocated by the pool
    transfer->run = (ce_run){
        .request = copy_request(request),
        .send = {.left = request->body_length},
        .receive = {.streams = request->streaming, .decodes = request->decompress},
        .last_activity_ms = loop->now_ms,
    };
}

// Whether a handle carries nothing from its request to the next. libcurl resets most of its state when a transfer begins,
// and not: how often it has tried again, that a body has to be rewound, that a server wanted no 100 Continue, a proxy's
// password for a request that was not sent, and what a reader has not taken of a body. The first four come of a transfer
// that failed, was taken away, or was sent again. The last, and the buffer, stay where other streams use the connection
// when a transfer ends: libcurl refuses to set the buffer's size then.
static bool is_clean(ce_transfer *transfer) {
    ce_handle *handle = &transfer->handle;
    if (!transfer->run.ended_well || transfer->run.receive.status == 417) return false;
    handle->holds_buffer = curl_easy_setopt(handle->easy, CURLOPT_BUFFERSIZE, handle->buffer_size) != CURLE_OK;
    return !handle->holds_buffer || !transfer->run.receive.streams;
}

bool ce_transfer_rest(ce_transfer *transfer) {
    bool may_be_reused = is_clean(transfer);
    end_run(transfer);
    if (!may_be_reused) return false;
    if (!transfer->handle.has_post_fields) return true;
    curl_easy_setopt(transfer->handle.easy, CURLOPT_COPYPOSTFIELDS, NULL);
    transfer->handle.has_post_fields = false;
    return true;
}

const char *ce_transfer_prepare(ce_transfer *transfer, ce_multi *multi, const ce_request *request, int *curl_code) {
    if (strlen(request->host) >= CE_HOST_SIZE) {
        *curl_code = CURLE_URL_MALFORMAT;
        return "host";
    }
    begin_run(transfer, multi->loop, request);
    const ce_handle *handle = &transfer->handle;
    if (handle->holds_buffer && handle->buffer_size != ce_buffer_size(request) && !renew_handle(transfer)) {
        *curl_code = CURLE_OUT_OF_MEMORY;
        return "curl_easy_init";
    }
    return ce_options_set(transfer, multi, request, curl_code);
}

// MARK: Run

int ce_transfer_start(ce_transfer *transfer) {
    CURLMcode code = curl_multi_add_handle(transfer->handle.multi->curl, transfer->handle.easy);
    transfer->handle.running = code == CURLM_OK;
    if (transfer->handle.running) ce_multi_set_running(transfer->handle.multi, transfer->handle.multi->running + 1);
    transfer->run.started_us = ce_now_us();
    return (int)code;
}

void ce_transfer_abort(ce_transfer *transfer) {
    if (!transfer->handle.running) return;
    transfer->handle.running = false;
    curl_multi_remove_handle(transfer->handle.multi->curl, transfer->handle.easy);
    ce_multi_set_running(transfer->handle.multi, transfer->handle.multi->running - 1);
    ce_transfer_untouch(transfer);
    ce_early_response_reset(transfer);
}

// MARK: Read

void ce_transfer_set_owner(ce_transfer *transfer, void *owner) { transfer->owner = owner; }
void *ce_transfer_owner(const ce_transfer *transfer) { return transfer->owner; }
bool ce_transfer_has_first_byte(const ce_transfer *transfer) { return transfer->run.receive.head_total > 0; }
bool ce_transfer_streams(const ce_transfer *transfer) { return transfer->run.receive.streams; }
bool ce_transfer_has_head(const ce_transfer *transfer) { return transfer->run.receive.head_done; }
ce_bytes ce_transfer_take_trailers(ce_transfer *transfer) { return ce_bytes_take(&transfer->buffers.trailers); }
ce_refusal ce_transfer_refusal(const ce_transfer *transfer) { return transfer->run.refusal; }
const char *ce_transfer_error_text(const ce_transfer *transfer) { return transfer->run.error_text; }
const char *ce_curl_text(int curl_code) { return curl_easy_strerror((CURLcode)curl_code); }
unsigned ce_transfer_send_count(const ce_transfer *transfer) { return transfer->run.send_count; }

// A refused request reports through the transfer, a refused handshake through its connection.
const ce_report *ce_transfer_report(const ce_transfer *transfer) {
    if (transfer->run.gates.report && !transfer->run.gates.missed_pins) return transfer->run.gates.report;
    return transfer->run.gates.connection ? &transfer->run.gates.connection->report : NULL;
}

bool ce_transfer_report_is_of_proxy(const ce_transfer *transfer) {
    if (transfer->run.gates.blames_proxy) return true;
    bool is_of_request = transfer->run.gates.report && !transfer->run.gates.missed_pins;
    return !is_of_request && transfer->run.gates.connection && transfer->run.gates.connection->is_proxy;
}

const ce_report *ce_transfer_missed_pins(const ce_transfer *transfer) {
    if (!transfer->run.gates.missed_pins) return NULL;
    // The handshake's report has the certificates' subjects; a resumed session's evidence has their digests.
    if (transfer->run.gates.carrier && transfer->run.gates.carrier->report.chain_count) return &transfer->run.gates.carrier->report;
    return transfer->run.gates.report;
}

bool ce_transfer_was_cut(const ce_transfer *transfer) {
    if (!transfer->run.gates.carrier || transfer->run.gates.speaks_http2 || !transfer->run.receive.head_done || transfer->run.request.is_head) return false;
    if (transfer->run.receive.has_length || transfer->run.receive.is_chunked || transfer->run.receive.status == 204 || transfer->run.receive.status == 304) return false;
    return !transfer->run.gates.carrier->was_closed;
}
