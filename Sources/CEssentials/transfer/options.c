// The options of easy handles.
//
// A handle is never reset with curl_easy_reset. Options that never vary are set once per handle. Others are set for
// each request, and the ones that allocate memory only if their value has changed.
#include "options.h"

#include "../sockets/sockets.h"
#include "../trust/trust.h"
#include "debug.h"
#include "early_responses.h"
#include "first_field.h"
#include "handshake_setup.h"
#include "receive.h"
#include "request_gate.h"
#include "send.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

enum { UPLOAD_BUFFER_SIZE = 256 * 1024, UPLOAD_BUFFER_SIZE_USUAL = 64 * 1024 };

// Holds the first option that libcurl refused. Later calls in the same expression are skipped by `&&`.
typedef struct refused {
    const char *option;
    CURLcode code;
} refused;

#define SET(easy, name, value, result)                                                                                 \
    (((result)->code = curl_easy_setopt((easy), (name), (value))) == CURLE_OK || ((result)->option = #name, false))

// MARK: Once for each handle

static bool set_network_options(CURL *easy, refused *r) {
    return SET(easy, CURLOPT_NOSIGNAL, 1L, r) && SET(easy, CURLOPT_PROTOCOLS_STR, "http,https", r) &&
           SET(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https", r) && SET(easy, CURLOPT_FOLLOWLOCATION, 0L, r) &&
           // Without it, removing a handle whose host name is being resolved waits for the resolver's thread.
           SET(easy, CURLOPT_QUICK_EXIT, 1L, r) &&
           // Both are set so that libcurl does not read the process's environment on the engine thread.
           SET(easy, CURLOPT_PROXY, "", r) && SET(easy, CURLOPT_NOPROXY, "", r) &&
           SET(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED, r) &&
           SET(easy, CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC, r) &&
           SET(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L, r) &&
           SET(easy, CURLOPT_OPENSOCKETFUNCTION, ce_open_socket, r) &&
           SET(easy, CURLOPT_CLOSESOCKETFUNCTION, ce_close_socket, r);
}

static bool set_trust_options(CURL *easy, ce_transfer *transfer, refused *r) {
    // The policy's own store replaces libcurl's anchors, so libcurl loads none. Its own checks stay on in addition to
    // ours.
    return SET(easy, CURLOPT_SSL_VERIFYPEER, 1L, r) && SET(easy, CURLOPT_SSL_VERIFYHOST, 2L, r) &&
           SET(easy, CURLOPT_CAINFO, NULL, r) && SET(easy, CURLOPT_CAPATH, NULL, r) &&
           SET(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 1L, r) && SET(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 2L, r) &&
           SET(easy, CURLOPT_PROXY_CAINFO, NULL, r) && SET(easy, CURLOPT_PROXY_CAPATH, NULL, r) &&
           SET(easy, CURLOPT_SSL_CTX_FUNCTION, ce_install_handshake_gate, r) &&
           SET(easy, CURLOPT_SSL_CTX_DATA, transfer, r) && SET(easy, CURLOPT_PREREQFUNCTION, ce_request_gate, r) &&
           SET(easy, CURLOPT_PREREQDATA, transfer, r);
}

static bool set_callbacks(CURL *easy, ce_transfer *transfer, refused *r) {
    return SET(easy, CURLOPT_PRIVATE, transfer, r) && SET(easy, CURLOPT_ERRORBUFFER, transfer->run.error_text, r) &&
           SET(easy, CURLOPT_WRITEFUNCTION, ce_on_body, r) && SET(easy, CURLOPT_WRITEDATA, transfer, r) &&
           SET(easy, CURLOPT_HEADERFUNCTION, ce_on_header, r) && SET(easy, CURLOPT_HEADERDATA, transfer, r) &&
           SET(easy, CURLOPT_READFUNCTION, ce_on_upload, r) && SET(easy, CURLOPT_READDATA, transfer, r) &&
           SET(easy, CURLOPT_XFERINFOFUNCTION, ce_on_progress, r) && SET(easy, CURLOPT_XFERINFODATA, transfer, r) &&
           SET(easy, CURLOPT_SEEKFUNCTION, ce_on_seek, r) && SET(easy, CURLOPT_SEEKDATA, transfer, r) &&
           SET(easy, CURLOPT_CURLU, transfer->url, r) &&
           SET(easy, CURLOPT_DEBUGFUNCTION, ce_on_debug, r) && SET(easy, CURLOPT_DEBUGDATA, transfer, r);
}

// libcurl sends a request again if a kept connection was closed before the response, whatever its method, and hides
// refused HTTP/2 streams among these. It leaves both to the caller for RTSP's requests that only receive. The option has
// no other effect on HTTP. If libcurl was built without RTSP, a refused stream on a kept connection counts as a dead
// connection.
static void show_refusals(ce_handle *handle) {
    handle->shows_refusals =
        curl_easy_setopt(handle->easy, CURLOPT_RTSP_REQUEST, (long)CURL_RTSPREQ_RECEIVE) == CURLE_OK;
}

bool ce_options_set_once(ce_transfer *transfer) {
    ce_handle *handle = &transfer->handle;
    refused r = {0};
    show_refusals(handle);
    return set_network_options(handle->easy, &r) && set_trust_options(handle->easy, transfer, &r) &&
           set_callbacks(handle->easy, transfer, &r);
}

// The list's nodes are one block and their texts another. libcurl only reads them.
static void free_header_list(struct curl_slist **list) {
    free(*list);
    *list = NULL;
}

void ce_options_free(ce_handle *handle) {
    free_header_list(&handle->headers);
    free(handle->header_lines);
    free(handle->target);
    free(handle->method);
    free(handle->proxy);
    free(handle->proxy_user);
    free(handle->proxy_password);
}

// MARK: Once for each loop

static bool set_connection_lives(CURL *easy, const ce_settings *settings, refused *r) {
    return SET(easy, CURLOPT_DNS_CACHE_TIMEOUT, settings->name_lifetime_s, r) &&
           SET(easy, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, settings->happy_eyeballs_ms, r) &&
           SET(easy, CURLOPT_MAXLIFETIME_CONN, settings->connection_lifetime_s, r) &&
           SET(easy, CURLOPT_TCP_KEEPALIVE, settings->keep_alive_s > 0 ? 1L : 0L, r) &&
           SET(easy, CURLOPT_TCP_KEEPIDLE, settings->keep_alive_s, r) &&
           SET(easy, CURLOPT_TCP_KEEPINTVL, settings->keep_alive_s, r);
}

static bool set_route(CURL *easy, const ce_loop *loop, refused *r) {
    const ce_settings *settings = &loop->settings;
    if (settings->interface && !SET(easy, CURLOPT_INTERFACE, settings->interface, r)) return false;
    if (!settings->unix_socket) return true;
    return settings->unix_socket_is_abstract ? SET(easy, CURLOPT_ABSTRACT_UNIX_SOCKET, settings->unix_socket, r)
                                             : SET(easy, CURLOPT_UNIX_SOCKET_PATH, settings->unix_socket, r);
}

static bool set_multi(ce_transfer *transfer, ce_multi *multi, refused *r) {
    ce_handle *handle = &transfer->handle;
    if (handle->multi == multi) return true;
    CURL *easy = handle->easy;
    if (!SET(easy, CURLOPT_SHARE, multi->share->curl, r)) return false;
    // libcurl applies the list to the next multi handle and then clears the option.
    if (multi->loop->resolve && !SET(easy, CURLOPT_RESOLVE, multi->loop->resolve, r)) return false;
    // A transfer stays with its loop.
    bool has_loop = handle->multi != NULL;
    if (!has_loop && !(SET(easy, CURLOPT_OPENSOCKETDATA, transfer, r) &&
                       SET(easy, CURLOPT_CLOSESOCKETDATA, multi->loop, r) &&
                       set_connection_lives(easy, &multi->loop->settings, r) && set_route(easy, multi->loop, r))) {
        return false;
    }
    handle->multi = multi;
    return true;
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
    ce_handle *handle = &transfer->handle;
    CURL *easy = handle->easy;
    if (!same_text(transfer->origin, request->origin)) {
        CURLUcode code = curl_url_set(transfer->url, CURLUPART_URL, request->origin, 0);
        if (code != CURLUE_OK || !keep_text(&transfer->origin, request->origin)) {
            free(transfer->origin);
            transfer->origin = NULL;
            *r = (refused){"CURLUPART_URL", code == CURLUE_OK ? CURLE_OUT_OF_MEMORY : CURLE_URL_MALFORMAT};
            return false;
        }
    }
    // The URL handle only names the peer. The request line carries exactly the caller's target.
    if (!handle->has_options || !same_text(handle->target, request->target)) {
        if (!SET(easy, CURLOPT_REQUEST_TARGET, request->target, r)) return false;
        if (!keep_text(&handle->target, request->target)) return false;
    }
    return true;
}

static bool set_headers(ce_transfer *transfer, const ce_request *request, refused *r) {
    ce_handle *handle = &transfer->handle;
    if (handle->header_lines && handle->header_lines_size == request->headers_size &&
        memcmp(handle->header_lines, request->headers, request->headers_size) == 0) {
        return handle->has_options || SET(handle->easy, CURLOPT_HTTPHEADER, handle->headers, r);
    }
    size_t count = 0;
    for (const char *line = request->headers; *line; line += strlen(line) + 1) count++;
    char *lines = malloc(request->headers_size);
    // A list without lines is NULL: libcurl reads the text of every node.
    struct curl_slist *nodes = count ? calloc(count, sizeof *nodes) : NULL;
    if (!lines || (count && !nodes)) {
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
    if (!SET(handle->easy, CURLOPT_HTTPHEADER, nodes, r)) {
        free(lines);
        free(nodes);
        return false;
    }
    free_header_list(&handle->headers);
    free(handle->header_lines);
    handle->headers = nodes;
    handle->header_lines = lines;
    handle->header_lines_size = request->headers_size;
    return true;
}

static bool set_method(ce_transfer *transfer, const ce_request *request, refused *r) {
    ce_handle *handle = &transfer->handle;
    CURL *easy = handle->easy;
    const char *usual = "GET";
    bool reports_progress = request->body_kind != CE_BODY_NONE;
    if (handle->reports_progress != reports_progress) {
        if (!SET(easy, CURLOPT_NOPROGRESS, reports_progress ? 0L : 1L, r)) return false;
        handle->reports_progress = reports_progress;
    }
    if (request->body_kind == CE_BODY_STREAM || request->body_kind == CE_BODY_LENT) {
        usual = "PUT";
        handle->only_gets = false;
        if (!SET(easy, CURLOPT_UPLOAD, 1L, r)) return false;
        if (!SET(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->body_length, r)) return false;
    } else if (request->body_kind == CE_BODY_BYTES) {
        usual = "POST";
        handle->only_gets = false;
        const void *body = request->body_size ? request->body : "";
        if (!SET(easy, CURLOPT_POST, 1L, r)) return false;
        if (!SET(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size, r)) return false;
        if (!SET(easy, CURLOPT_COPYPOSTFIELDS, body, r)) return false;
        handle->has_post_fields = true;
    } else {
        if (handle->has_post_fields) {
            if (!SET(easy, CURLOPT_COPYPOSTFIELDS, NULL, r)) return false;
            handle->has_post_fields = false;
        }
        bool is_head = strcmp(request->method, "HEAD") == 0;
        if (is_head) usual = "HEAD";
        if (!handle->has_options || !handle->only_gets || is_head) {
            if (!SET(easy, CURLOPT_HTTPGET, 1L, r)) return false;
            if (is_head && !SET(easy, CURLOPT_NOBODY, 1L, r)) return false;
        }
        handle->only_gets = !is_head;
    }
    const char *custom = strcmp(request->method, usual) == 0 ? NULL : request->method;
    if (handle->has_options && (custom ? same_text(handle->method, custom) : handle->method == NULL)) return true;
    if (!SET(easy, CURLOPT_CUSTOMREQUEST, custom, r)) return false;
    if (custom) return keep_text(&handle->method, custom);
    free(handle->method);
    handle->method = NULL;
    return true;
}

static long curl_version_of(const ce_request *request) {
    if (request->http_version == CE_HTTP_1_1) return CURL_HTTP_VERSION_1_1;
    if (request->http_version == CE_HTTP_2 && !request->secure) return CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    return CURL_HTTP_VERSION_2TLS;
}

// libcurl before 8.0 adds a second HTTP/2 layer to a kept connection that uses prior knowledge, and then waits for a
// response to a request that was never sent. With those versions, each such request gets its own connection.
static bool must_be_alone(const ce_transfer *transfer, const ce_request *request) {
    // libcurl does not report which of several kept Unix-domain connections it will use, so none of them can be
    // checked.
    if (transfer->handle.multi->loop->settings.unix_socket) return true;
    if (request->http_version != CE_HTTP_2 || request->secure) return false;
    return curl_version_info(CURLVERSION_NOW)->version_num < 0x080000;
}

static long idle_lifetime(const ce_settings *settings, const ce_request *request) {
    long own = request->idle_lifetime_s;
    return own > 0 && own < settings->idle_lifetime_s ? own : settings->idle_lifetime_s;
}

static bool set_scalars(ce_transfer *transfer, const ce_request *request, const ce_trust *trust, refused *r) {
    ce_handle *handle = &transfer->handle;
    CURL *easy = handle->easy;
    bool alone = must_be_alone(transfer, request);
    bool keeps_none = handle->multi->loop->settings.connection_cache == 0;
    ce_scalars new = {
        .connect_timeout_ms = request->connect_timeout_ms,
        .http_version = curl_version_of(request),
        .waits_for_sharing = request->wait_for_multiplexing && !alone,
        .fresh_connection = request->fresh_connection || alone,
        .forbids_reuse = alone || keeps_none,
        .keeps_sessions = !request->full_handshake,
        .continue_wait_ms = request->continue_wait_ms,
        .minimum_rate = request->minimum_rate,
        .minimum_rate_s = request->minimum_rate_s,
        .tls_version = trust->minimum_tls >= TLS1_3_VERSION ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2,
        .idle_lifetime_s = idle_lifetime(&handle->multi->loop->settings, request),
        // libcurl then delivers a response without a status line as a body, which ce_on_body always refuses. Its first
        // bytes show which protocol the server speaks on a port that was expected to be plain HTTP. A response to HEAD
        // has no body that could be refused: on a reused connection, libcurl would send the request again.
        .takes_any_line = !request->secure && strcmp(request->method, "HEAD") != 0,
    };
    if (handle->has_options && memcmp(&handle->scalars, &new, sizeof new) == 0) return true;
    handle->scalars = new;
    return SET(easy, CURLOPT_CONNECTTIMEOUT_MS, new.connect_timeout_ms, r) &&
           SET(easy, CURLOPT_HTTP_VERSION, new.http_version, r) &&
           SET(easy, CURLOPT_PIPEWAIT, new.waits_for_sharing, r) &&
           SET(easy, CURLOPT_FRESH_CONNECT, new.fresh_connection, r) &&
           SET(easy, CURLOPT_FORBID_REUSE, new.forbids_reuse, r) &&
           SET(easy, CURLOPT_SSL_SESSIONID_CACHE, new.keeps_sessions, r) &&
           SET(easy, CURLOPT_EXPECT_100_TIMEOUT_MS, new.continue_wait_ms, r) &&
           SET(easy, CURLOPT_LOW_SPEED_LIMIT, new.minimum_rate, r) &&
           SET(easy, CURLOPT_LOW_SPEED_TIME, new.minimum_rate_s, r) &&
           SET(easy, CURLOPT_SSLVERSION, new.tls_version, r) &&
           SET(easy, CURLOPT_MAXAGE_CONN, new.idle_lifetime_s, r) &&
           SET(easy, CURLOPT_HTTP09_ALLOWED, new.takes_any_line, r);
}

long ce_buffer_size(const ce_request *request) {
    // Large reads are for streams. If a piece of a compressed body is refused, libcurl keeps it together with
    // everything that the same read expands to, at most 64 MiB. At gzip's highest ratio, 64,000 bytes stay below that.
    return !request->streaming ? 16384L : request->decompress ? 64000L : CE_CHUNK_SIZE;
}

static bool set_buffers(ce_transfer *transfer, const ce_request *request, refused *r) {
    ce_handle *handle = &transfer->handle;
    CURL *easy = handle->easy;
    long buffer = ce_buffer_size(request);
    if (handle->buffer_size != buffer) {
        if (!SET(easy, CURLOPT_BUFFERSIZE, buffer, r)) return false;
        handle->buffer_size = buffer;
    }
    // libcurl writes at most this much for each event. A TLS layer counts bytes as sent only when the whole write is on
    // its way, so that a slow peer would look like a silent one. With TLS, libcurl's default size is therefore kept.
    bool is_long = request->body_length < 0 || request->body_length > UPLOAD_BUFFER_SIZE_USUAL;
    bool writes_much = transfer->run.request.gives_body && is_long && !request->secure && !request->proxy_host;
    long upload_buffer = writes_much ? UPLOAD_BUFFER_SIZE : UPLOAD_BUFFER_SIZE_USUAL;
    if (handle->upload_buffer_size != upload_buffer) {
        if (!SET(easy, CURLOPT_UPLOAD_BUFFERSIZE, upload_buffer, r)) return false;
        handle->upload_buffer_size = upload_buffer;
    }
    // The request's header lines name the codings; these options make libcurl decode them. Decoding alone is turned off
    // for some responses, so the two values are tracked separately.
    bool decodes = request->decompress;
    if (!handle->has_options || handle->accepts_codings != decodes) {
        if (!SET(easy, CURLOPT_ACCEPT_ENCODING, decodes ? "" : NULL, r)) return false;
        handle->accepts_codings = decodes;
    }
    if (!handle->has_options || handle->decodes != decodes) {
        if (!SET(easy, CURLOPT_HTTP_CONTENT_DECODING, decodes ? 1L : 0L, r)) return false;
        handle->decodes = decodes;
    }
    return true;
}

static bool keep_optional(char **kept, const char *given) {
    if (given) return keep_text(kept, given);
    free(*kept);
    *kept = NULL;
    return true;
}

static bool same_optional(const char *kept, const char *given) {
    return kept && given ? strcmp(kept, given) == 0 : kept == given;
}

static bool set_proxy(ce_transfer *transfer, const ce_request *request, refused *r) {
    ce_handle *handle = &transfer->handle;
    if (handle->has_options && same_optional(handle->proxy, request->proxy) &&
        same_optional(handle->proxy_user, request->proxy_user) &&
        same_optional(handle->proxy_password, request->proxy_password)) {
        return true;
    }
    CURL *easy = handle->easy;
    return SET(easy, CURLOPT_PROXY, request->proxy ? request->proxy : "", r) &&
           SET(easy, CURLOPT_PROXYUSERNAME, request->proxy_user, r) &&
           SET(easy, CURLOPT_PROXYPASSWORD, request->proxy_password, r) &&
           keep_optional(&handle->proxy, request->proxy) &&
           keep_optional(&handle->proxy_user, request->proxy_user) &&
           keep_optional(&handle->proxy_password, request->proxy_password);
}

const char *ce_options_set(ce_transfer *transfer, ce_multi *multi, const ce_request *request, int *curl_code) {
    refused r = {NULL, CURLE_OK};
    bool done = set_multi(transfer, multi, &r) && set_destination(transfer, request, &r) &&
                set_headers(transfer, request, &r) && set_method(transfer, request, &r) &&
                set_proxy(transfer, request, &r) && set_scalars(transfer, request, multi->trust, &r) &&
                set_buffers(transfer, request, &r);
    transfer->handle.has_options = done;
    if (done) return NULL;
    *curl_code = r.code == CURLE_OK ? CURLE_OUT_OF_MEMORY : r.code;
    return r.option ? r.option : "memory";
}
