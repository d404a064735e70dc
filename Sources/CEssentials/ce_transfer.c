// Easy handles: options, start, abort, and what is read from them afterwards.
//
// A handle is never reset. Options that never vary are set once, those that vary are set for every request, and those
// that cost an allocation only when their value differs from the last one.
#include "buffers.h"

#include <stdlib.h>
#include <string.h>

// Remembers the first option that libcurl refused; later calls in the same function are skipped by `&&`.
typedef struct refused {
    const char *option;
    CURLcode code;
} refused;

#define SET(easy, name, value, result)                                                                                 \
    (((result)->code = curl_easy_setopt((easy), (name), (value))) == CURLE_OK || ((result)->option = #name, false))

// MARK: Life

static bool set_network_options(CURL *easy, refused *r) {
    return SET(easy, CURLOPT_NOSIGNAL, 1L, r) && SET(easy, CURLOPT_PROTOCOLS_STR, "http,https", r) &&
           SET(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https", r) && SET(easy, CURLOPT_FOLLOWLOCATION, 0L, r) &&
           // Removing a handle whose name is being resolved would otherwise wait for the resolver's thread.
           SET(easy, CURLOPT_QUICK_EXIT, 1L, r) &&
           // Both set, so that libcurl does not read the process's environment on the engine thread.
           SET(easy, CURLOPT_PROXY, "", r) && SET(easy, CURLOPT_NOPROXY, "", r) && SET(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED, r) &&
           SET(easy, CURLOPT_HTTP09_ALLOWED, 0L, r) && SET(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L, r) &&
           SET(easy, CURLOPT_OPENSOCKETFUNCTION, ce_open_socket, r) &&
           SET(easy, CURLOPT_CLOSESOCKETFUNCTION, ce_close_socket, r) && SET(easy, CURLOPT_TCP_KEEPALIVE, 1L, r);
}

static bool set_trust_options(CURL *easy, ce_transfer *transfer, refused *r) {
    // The policy's own store replaces libcurl's anchors, so libcurl loads none; its own checks stay on beside ours.
    return SET(easy, CURLOPT_SSL_VERIFYPEER, 1L, r) && SET(easy, CURLOPT_SSL_VERIFYHOST, 2L, r) &&
           SET(easy, CURLOPT_CAINFO, NULL, r) && SET(easy, CURLOPT_CAPATH, NULL, r) &&
           SET(easy, CURLOPT_SSL_CTX_FUNCTION, ce_install_handshake_gate, r) &&
           SET(easy, CURLOPT_SSL_CTX_DATA, transfer, r) && SET(easy, CURLOPT_PREREQFUNCTION, ce_request_gate, r) &&
           SET(easy, CURLOPT_PREREQDATA, transfer, r);
}

static bool set_callbacks(CURL *easy, ce_transfer *transfer, refused *r) {
    return SET(easy, CURLOPT_PRIVATE, transfer, r) && SET(easy, CURLOPT_ERRORBUFFER, transfer->error_text, r) &&
           SET(easy, CURLOPT_WRITEFUNCTION, ce_on_body, r) && SET(easy, CURLOPT_WRITEDATA, transfer, r) &&
           SET(easy, CURLOPT_HEADERFUNCTION, ce_on_header, r) && SET(easy, CURLOPT_HEADERDATA, transfer, r) &&
           SET(easy, CURLOPT_READFUNCTION, ce_on_upload, r) && SET(easy, CURLOPT_READDATA, transfer, r) &&
           SET(easy, CURLOPT_CURLU, transfer->url, r);
}

ce_transfer *ce_transfer_create(void) {
    ce_transfer *transfer = calloc(1, sizeof *transfer);
    if (!transfer) return NULL;
    transfer->easy = curl_easy_init();
    transfer->url = curl_url();
    refused r = {0};
    if (!transfer->easy || !transfer->url || !set_network_options(transfer->easy, &r) ||
        !set_trust_options(transfer->easy, transfer, &r) || !set_callbacks(transfer->easy, transfer, &r)) {
        ce_transfer_destroy(transfer);
        return NULL;
    }
    return transfer;
}

// The list's nodes and their text live in two blocks of ours; libcurl only reads them.
static void free_list(struct curl_slist **list) {
    free(*list);
    *list = NULL;
}

static void clear_buffers(ce_transfer *transfer) {
    ce_bytes_free(&transfer->head);
    ce_bytes_free(&transfer->body);
    ce_bytes_free(&transfer->trailers);
    ce_bytes_free(&transfer->upload);
    for (ce_bytes chunk; (chunk = ce_transfer_take_chunk(transfer, false)).data;) free(chunk.data);
    ce_connection_release(transfer->connection);
    transfer->connection = NULL;
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
    if (transfer->easy) curl_easy_cleanup(transfer->easy);
    if (transfer->url) curl_url_cleanup(transfer->url);
    clear_buffers(transfer);
    free_list(&transfer->headers);
    curl_slist_free_all(transfer->resolve);
    free(transfer->origin);
    free(transfer->target);
    free(transfer->method);
    free(transfer->header_lines);
    free(transfer->report);
    free(transfer);
}

// MARK: Options of one request

static bool same_text(const char *kept, const char *given) { return kept && strcmp(kept, given) == 0; }

static bool keep_text(char **kept, const char *given) {
    char *copy = strdup(given);
    if (!copy) return false;
    free(*kept);
    *kept = copy;
    return true;
}

static bool set_destination(ce_transfer *transfer, const ce_request *request, refused *r) {
    CURL *easy = transfer->easy;
    if (!same_text(transfer->origin, request->origin)) {
        CURLUcode code = curl_url_set(transfer->url, CURLUPART_URL, request->origin, 0);
        if (code != CURLUE_OK || !keep_text(&transfer->origin, request->origin)) {
            free(transfer->origin);
            transfer->origin = NULL;
            *r = (refused){"CURLUPART_URL", code == CURLUE_OK ? CURLE_OUT_OF_MEMORY : CURLE_URL_MALFORMAT};
            return false;
        }
    }
    // The URL handle names the peer only; the request line is exactly the caller's.
    if (!same_text(transfer->target, request->target)) {
        if (!SET(easy, CURLOPT_REQUEST_TARGET, request->target, r)) return false;
        if (!keep_text(&transfer->target, request->target)) return false;
    }
    return true;
}

static bool set_headers(ce_transfer *transfer, const ce_request *request, refused *r) {
    if (transfer->header_lines && transfer->header_lines_size == request->headers_size &&
        memcmp(transfer->header_lines, request->headers, request->headers_size) == 0) {
        return true;
    }
    size_t count = 0;
    for (const char *line = request->headers; *line; line += strlen(line) + 1) count++;
    char *lines = malloc(request->headers_size);
    struct curl_slist *nodes = calloc(count ? count : 1, sizeof *nodes);
    if (!lines || !nodes) {
        free(lines);
        free(nodes);
        *r = (refused){"CURLOPT_HTTPHEADER", CURLE_OUT_OF_MEMORY};
        return false;
    }
    memcpy(lines, request->headers, request->headers_size);
    char *line = lines;
    for (size_t i = 0; i < count; i++, line += strlen(line) + 1) {
        nodes[i].data = line;
        nodes[i].next = i + 1 < count ? &nodes[i + 1] : NULL;
    }
    if (!SET(transfer->easy, CURLOPT_HTTPHEADER, count ? nodes : NULL, r)) {
        free(lines);
        free(nodes);
        return false;
    }
    free_list(&transfer->headers);
    free(transfer->header_lines);
    transfer->headers = nodes;
    transfer->header_lines = lines;
    transfer->header_lines_size = request->headers_size;
    return true;
}

static bool set_resolve(ce_transfer *transfer, const ce_request *request, refused *r) {
    if (!request->resolve || transfer->resolve) return true; // fixed for the life of a transport
    struct curl_slist *list = NULL;
    for (const char *entry = request->resolve; *entry; entry += strlen(entry) + 1) {
        struct curl_slist *longer = curl_slist_append(list, entry);
        if (!longer) {
            curl_slist_free_all(list);
            *r = (refused){"CURLOPT_RESOLVE", CURLE_OUT_OF_MEMORY};
            return false;
        }
        list = longer;
    }
    transfer->resolve = list;
    return SET(transfer->easy, CURLOPT_RESOLVE, list, r);
}

static bool set_method(ce_transfer *transfer, const ce_request *request, refused *r) {
    CURL *easy = transfer->easy;
    const char *usual = "GET";
    if (request->body_kind == CE_BODY_STREAM) {
        usual = "PUT";
        if (!SET(easy, CURLOPT_UPLOAD, 1L, r)) return false;
        if (!SET(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_length, r)) return false;
    } else if (request->body_kind == CE_BODY_BYTES) {
        usual = "POST";
        const void *body = request->body_size ? request->body : "";
        if (!SET(easy, CURLOPT_POST, 1L, r)) return false;
        if (!SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size, r)) return false;
        if (!SET(easy, CURLOPT_COPYPOSTFIELDS, body, r)) return false;
        transfer->has_post_fields = true;
    } else {
        if (transfer->has_post_fields) {
            if (!SET(easy, CURLOPT_COPYPOSTFIELDS, NULL, r)) return false;
            transfer->has_post_fields = false;
        }
        if (!SET(easy, CURLOPT_HTTPGET, 1L, r)) return false;
        if (strcmp(request->method, "HEAD") == 0) {
            usual = "HEAD";
            if (!SET(easy, CURLOPT_NOBODY, 1L, r)) return false;
        }
    }
    const char *custom = strcmp(request->method, usual) == 0 ? NULL : request->method;
    if (custom ? same_text(transfer->method, custom) : transfer->method == NULL) return true;
    if (!SET(easy, CURLOPT_CUSTOMREQUEST, custom, r)) return false;
    if (custom) return keep_text(&transfer->method, custom);
    free(transfer->method);
    transfer->method = NULL;
    return true;
}

static long curl_version_of(const ce_request *request) {
    if (request->http_version == CE_HTTP_1_1) return CURL_HTTP_VERSION_1_1;
    if (request->http_version == CE_HTTP_2 && !request->secure) return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    return CURL_HTTP_VERSION_2TLS;
}

// libcurl before 8.0 stacks a second HTTP/2 layer on a kept connection that speaks it by prior knowledge, and then waits
// for an answer to a request that was never sent: there each such request gets a connection of its own.
static bool must_be_alone(const ce_request *request) {
    if (request->http_version != CE_HTTP_2 || request->secure) return false;
    return curl_version_info(CURLVERSION_NOW)->version_num < 0x080000;
}

static bool set_scalars(ce_transfer *transfer, const ce_request *request, const ce_trust *trust, refused *r) {
    CURL *easy = transfer->easy;
    bool alone = must_be_alone(request);
    long tls = trust->minimum_tls >= TLS1_3_VERSION ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2;
    if (!(SET(easy, CURLOPT_CONNECTTIMEOUT_MS, request->connect_timeout_ms, r) &&
          SET(easy, CURLOPT_TIMEOUT_MS, request->total_timeout_ms, r) &&
          SET(easy, CURLOPT_HTTP_VERSION, curl_version_of(request), r) &&
          SET(easy, CURLOPT_PIPEWAIT, request->wait_for_multiplexing && !alone ? 1L : 0L, r) &&
          SET(easy, CURLOPT_FRESH_CONNECT, request->fresh_connection || alone ? 1L : 0L, r) &&
          SET(easy, CURLOPT_FORBID_REUSE, alone ? 1L : 0L, r) &&
          SET(easy, CURLOPT_SSL_SESSIONID_CACHE, request->fresh_connection ? 0L : 1L, r) &&
          SET(easy, CURLOPT_SSLVERSION, tls, r))) {
        return false;
    }
    // Large reads are for streams. A refused piece of an unpacked body is kept by libcurl together with all that the same
    // read unpacks to, at most 64 MiB: 48 KiB stay below that at gzip's highest ratio.
    long buffer = !request->streaming ? 16384L : request->decompress ? 49152L : CE_CHUNK_SIZE;
    if (transfer->buffer_size != buffer) {
        if (!SET(easy, CURLOPT_BUFFERSIZE, buffer, r)) return false;
        transfer->buffer_size = buffer;
    }
    if (transfer->decompress != request->decompress || !transfer->decompress_known) {
        if (!SET(easy, CURLOPT_ACCEPT_ENCODING, request->decompress ? "" : NULL, r)) return false;
        if (!SET(easy, CURLOPT_HTTP_CONTENT_DECODING, request->decompress ? 1L : 0L, r)) return false;
        transfer->decompress = request->decompress;
        transfer->decompress_known = true;
    }
    return true;
}

static bool set_multi(ce_transfer *transfer, ce_multi *multi, refused *r) {
    if (transfer->multi == multi) return true;
    if (!(SET(transfer->easy, CURLOPT_SHARE, multi->share, r) &&
          SET(transfer->easy, CURLOPT_OPENSOCKETDATA, multi->loop, r) &&
          SET(transfer->easy, CURLOPT_CLOSESOCKETDATA, multi->loop, r))) {
        return false;
    }
    transfer->multi = multi;
    return true;
}

static void begin(ce_transfer *transfer, const ce_request *request) {
    clear_buffers(transfer);
    transfer->secure = request->secure;
    transfer->idempotent = request->idempotent;
    transfer->streaming = request->streaming;
    transfer->http_version = request->http_version;
    ce_copy_text(transfer->host, CE_HOST_SIZE, request->host);
    transfer->host_is_address = request->host_is_address;
    transfer->send_count = 0;
    transfer->status = 0;
    transfer->head_done = false;
    transfer->head_limit = request->head_limit;
    transfer->body_limit = request->body_limit;
    transfer->body_total = transfer->head_total = 0;
    transfer->last_activity_ms = ce_now_ms();
    transfer->refusal = CE_REFUSED_NOT;
    transfer->verdict = CE_VERDICT_NONE;
    free(transfer->report);
    transfer->report = NULL;
    transfer->tls_version[0] = transfer->cipher[0] = transfer->error_text[0] = 0;
    transfer->receive_paused = transfer->send_paused = false;
    transfer->upload_offset = 0;
    transfer->upload_left = request->body_length;
    transfer->moved_bytes = 0;
    transfer->upload_ended = transfer->upload_failed = transfer->upload_wanted = false;
    leave_touched_list(transfer);
}

void ce_transfer_rest(ce_transfer *transfer) {
    clear_buffers(transfer);
    if (!transfer->has_post_fields) return;
    curl_easy_setopt(transfer->easy, CURLOPT_COPYPOSTFIELDS, NULL);
    transfer->has_post_fields = false;
}

const char *ce_transfer_prepare(ce_transfer *transfer, ce_multi *multi, const ce_request *request, int *curl_code) {
    refused r = {NULL, CURLE_OK};
    if (strlen(request->host) >= CE_HOST_SIZE) {
        *curl_code = CURLE_URL_MALFORMAT;
        return "host";
    }
    begin(transfer, request);
    bool done = set_multi(transfer, multi, &r) && set_destination(transfer, request, &r) &&
                set_headers(transfer, request, &r) && set_resolve(transfer, request, &r) &&
                set_method(transfer, request, &r) && set_scalars(transfer, request, multi->trust, &r);
    if (done) return NULL;
    *curl_code = r.code == CURLE_OK ? CURLE_OUT_OF_MEMORY : r.code;
    return r.option ? r.option : "memory";
}

// MARK: Run

int ce_transfer_start(ce_transfer *transfer) {
    CURLMcode code = curl_multi_add_handle(transfer->multi->curl, transfer->easy);
    transfer->running = code == CURLM_OK;
    return (int)code;
}

void ce_transfer_abort(ce_transfer *transfer) {
    if (!transfer->running) return;
    transfer->running = false;
    curl_multi_remove_handle(transfer->multi->curl, transfer->easy);
    leave_touched_list(transfer);
}

// MARK: Read

void ce_transfer_set_owner(ce_transfer *transfer, void *owner) { transfer->owner = owner; }
void *ce_transfer_owner(const ce_transfer *transfer) { return transfer->owner; }
int ce_transfer_status(const ce_transfer *transfer) { return transfer->status; }
bool ce_transfer_has_head(const ce_transfer *transfer) { return transfer->head_done; }
ce_bytes ce_transfer_take_head(ce_transfer *transfer) { return ce_bytes_take(&transfer->head); }
ce_bytes ce_transfer_take_body(ce_transfer *transfer) { return ce_bytes_take(&transfer->body); }
ce_bytes ce_transfer_take_trailers(ce_transfer *transfer) { return ce_bytes_take(&transfer->trailers); }
ce_refusal ce_transfer_refusal(const ce_transfer *transfer) { return transfer->refusal; }
const char *ce_transfer_error_text(const ce_transfer *transfer) { return transfer->error_text; }
const char *ce_curl_text(int curl_code) { return curl_easy_strerror((CURLcode)curl_code); }
const char *ce_transfer_tls_version(const ce_transfer *transfer) { return transfer->tls_version; }
const char *ce_transfer_cipher(const ce_transfer *transfer) { return transfer->cipher; }
unsigned ce_transfer_send_count(const ce_transfer *transfer) { return transfer->send_count; }

ce_verdict ce_transfer_verdict(const ce_transfer *transfer) { return transfer->verdict; }

// A refused request reports through the transfer, a refused handshake through its connection.
const ce_report *ce_transfer_report(const ce_transfer *transfer) {
    if (transfer->report) return transfer->report;
    return transfer->connection ? &transfer->connection->report : NULL;
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
        .resolved_us = read_time(easy, CURLINFO_NAMELOOKUP_TIME_T),
        .connected_us = read_time(easy, CURLINFO_CONNECT_TIME_T),
        .secured_us = read_time(easy, CURLINFO_APPCONNECT_TIME_T),
        .sent_us = read_time(easy, CURLINFO_PRETRANSFER_TIME_T),
        .first_byte_us = read_time(easy, CURLINFO_STARTTRANSFER_TIME_T),
        .total_us = read_time(easy, CURLINFO_TOTAL_TIME_T),
        .body_bytes_received = read_time(easy, CURLINFO_SIZE_DOWNLOAD_T),
        .body_bytes_sent = read_time(easy, CURLINFO_SIZE_UPLOAD_T),
        .head_bytes_received = read_long(easy, CURLINFO_HEADER_SIZE),
        .head_bytes_sent = read_long(easy, CURLINFO_REQUEST_SIZE),
        .reused = transfer->send_count > 0 && read_long(easy, CURLINFO_NUM_CONNECTS) == 0,
        .peer_port = read_long(easy, CURLINFO_PRIMARY_PORT),
    };
    timings.http_version = ce_transfer_http_version(transfer);
    char *address = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &address) == CURLE_OK && address) {
        ce_copy_text(timings.peer_address, sizeof timings.peer_address, address);
    }
    return timings;
}
