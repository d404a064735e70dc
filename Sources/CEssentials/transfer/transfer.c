// Easy handles and their requests: creation, start, end, and accessors for the engine.
#include "../base/bytes.h"
#include "../base/clock.h"
#include "../base/text.h"
#include "../sockets/carried_requests.h"
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
    const ce_run_gates *gates = &transfer->run.gates;
    ce_transfer_untouch(transfer);
    ce_early_response_reset(transfer);
    empty_buffers(transfer);
    ce_connection_release(gates->connection);
    ce_transfer_leave_carrier(transfer);
    ce_socket_leave(transfer);
    free(gates->report);
    free(gates->trust);
    transfer->run = (ce_run){0};
}

void ce_transfer_destroy(ce_transfer *transfer) {
    if (!transfer) return;
    // The lists are left first, because they are found through the handle's multi. The run is released last, because
    // libcurl writes its error text there.
    ce_transfer_untouch(transfer);
    ce_early_response_reset(transfer);
    ce_socket_leave(transfer);
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
        .records_trust = request->records_trust,
        .is_head = strcmp(request->method, "HEAD") == 0,
        .http_version = request->http_version,
        .head_limit = request->head_limit,
        .head_line_limit = request->head_line_limit,
        .body_limit = request->body_limit,
        .expansion_limit = request->expansion_limit,
        .streams_redirects = request->streams_redirects,
        .streams_challenges = request->streams_challenges,
        .streams_retries = request->streams_retries,
        .has_body = request->body_kind != CE_BODY_NONE,
        .expects_continue = request->expects_continue,
        .resends_at_once = request->resends_at_once,
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

// Whether a handle carries nothing from its request to the next. libcurl resets most of its state when a transfer
// begins. Five things stay: the number of its own retries, a pending rewind of the body, that a server refused 100
// Continue, the proxy's password of a request that was not sent, and the part of a body that the reader has not taken.
// The first four need a transfer that failed, was aborted, or was sent twice. The last one, and the receive buffer,
// stay if other streams use the connection when a transfer ends. libcurl then refuses to change the buffer's size.
static bool is_clean(ce_transfer *transfer) {
    ce_handle *handle = &transfer->handle;
    if (!transfer->run.ended_well || transfer->run.receive.status == 417) return false;
    handle->holds_buffer = curl_easy_setopt(handle->easy, CURLOPT_BUFFERSIZE, handle->buffer_size) != CURLE_OK;
    return !handle->holds_buffer || !transfer->run.receive.streams;
}

bool ce_transfer_rest(ce_transfer *transfer) {
    ce_handle *handle = &transfer->handle;
    bool may_be_reused = is_clean(transfer);
    end_run(transfer);
    if (!may_be_reused) return false;
    if (!handle->has_post_fields) return true;
    curl_easy_setopt(handle->easy, CURLOPT_COPYPOSTFIELDS, NULL);
    handle->has_post_fields = false;
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
    ce_handle *handle = &transfer->handle;
    CURLMcode code = curl_multi_add_handle(handle->multi->curl, handle->easy);
    handle->running = code == CURLM_OK;
    if (handle->running) ce_multi_set_running(handle->multi, handle->multi->running + 1);
    transfer->run.started_us = ce_now_us();
    return (int)code;
}

void ce_transfer_abort(ce_transfer *transfer) {
    ce_handle *handle = &transfer->handle;
    if (!handle->running) return;
    handle->running = false;
    curl_multi_remove_handle(handle->multi->curl, handle->easy);
    ce_multi_set_running(handle->multi, handle->multi->running - 1);
    ce_transfer_untouch(transfer);
    ce_early_response_reset(transfer);
}

// MARK: Read

void ce_transfer_set_owner(ce_transfer *transfer, void *owner) { transfer->owner = owner; }
void *ce_transfer_owner(const ce_transfer *transfer) { return transfer->owner; }
bool ce_transfer_has_first_byte(const ce_transfer *transfer) { return transfer->run.receive.head_total > 0; }
bool ce_transfer_streams(const ce_transfer *transfer) { return transfer->run.receive.streams; }
bool ce_transfer_has_head(const ce_transfer *transfer) {
    return transfer->run.receive.head_done && !transfer->run.receive.is_void;
}
long ce_transfer_keep_alive_s(const ce_transfer *transfer) { return transfer->run.receive.keep_alive_s; }
ce_bytes ce_transfer_take_trailers(ce_transfer *transfer) { return ce_bytes_take(&transfer->buffers.trailers); }
ce_refusal ce_transfer_refusal(const ce_transfer *transfer) { return transfer->run.refusal; }
ce_spoken ce_transfer_spoken(const ce_transfer *transfer) { return transfer->run.receive.spoken; }
bool ce_transfer_lacked_resources(const ce_transfer *transfer) { return transfer->run.lacked_resources; }
const char *ce_transfer_error_text(const ce_transfer *transfer) { return transfer->run.error_text; }

bool ce_transfer_is_over(const ce_transfer *transfer) { return transfer->run.early.is_over; }
bool ce_transfer_speaks_http2(const ce_transfer *transfer) { return transfer->run.gates.speaks_http2; }
bool ce_transfer_body_has_begun(const ce_transfer *transfer) { return transfer->run.send.has_begun; }

static int number_of(const ce_transfer *transfer, CURLINFO info) {
    long number = 0;
    return curl_easy_getinfo(transfer->handle.easy, info, &number) == CURLE_OK ? (int)number : 0;
}

int ce_transfer_system_error(const ce_transfer *transfer) { return number_of(transfer, CURLINFO_OS_ERRNO); }
int ce_transfer_connect_status(const ce_transfer *transfer) { return number_of(transfer, CURLINFO_HTTP_CONNECTCODE); }

const char *ce_curl_text(int curl_code) { return curl_easy_strerror((CURLcode)curl_code); }
unsigned ce_transfer_send_count(const ce_transfer *transfer) { return transfer->run.send_count; }

// A refused request reports through the transfer, a refused handshake through its connection.
const ce_report *ce_transfer_report(const ce_transfer *transfer) {
    const ce_run_gates *gates = &transfer->run.gates;
    if (gates->report && !gates->missed_pins) return gates->report;
    return gates->connection ? &gates->connection->report : NULL;
}

bool ce_transfer_report_is_of_proxy(const ce_transfer *transfer) {
    const ce_run_gates *gates = &transfer->run.gates;
    if (gates->blames_proxy) return true;
    bool is_of_request = gates->report && !gates->missed_pins;
    return !is_of_request && gates->connection && gates->connection->is_proxy;
}

const ce_report *ce_transfer_missed_pins(const ce_transfer *transfer) {
    const ce_run_gates *gates = &transfer->run.gates;
    if (!gates->missed_pins) return NULL;
    // The handshake's report contains the certificates' subjects, the evidence of a resumed session only their digests.
    if (gates->carrier && gates->carrier->report.chain_count) return &gates->carrier->report;
    return gates->report;
}

bool ce_transfer_was_cut(const ce_transfer *transfer) {
    const ce_run_receive *receive = &transfer->run.receive;
    const ce_run_gates *gates = &transfer->run.gates;
    if (!gates->carrier || gates->speaks_http2 || !receive->head_done || transfer->run.request.is_head) return false;
    if (receive->has_length || receive->is_chunked || receive->status == 204 || receive->status == 304) return false;
    return !gates->carrier->was_closed;
}
