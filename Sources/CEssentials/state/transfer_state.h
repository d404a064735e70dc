// The data of a transfer, grouped by lifetime. The functions are in transfer/.
//
// A group is reset as a whole when its lifetime ends, so that no forgotten field reaches the next request:
//
//     ce_run        one request: zeroed by `ce_transfer_rest` and `ce_transfer_prepare`
//     ce_buffers    one request; only the memory of small buffers is kept for the next one
//     ce_handle     one easy handle: zeroed when the handle is replaced
//     ce_places     membership in the loop's lists, which a transfer leaves before its run is reset
//
// Data of one connection is in `ce_connection`, data of one socket in `ce_socket`.
#ifndef CE_TRANSFER_STATE_H
#define CE_TRANSFER_STATE_H

#include "../trust/evidence.h"
#include "loop_state.h"

// Options without text that differ between requests. There is no padding: they are compared as bytes.
typedef struct ce_scalars {
    long connect_timeout_ms, http_version, waits_for_sharing, fresh_connection, forbids_reuse, keeps_sessions;
    long continue_wait_ms, minimum_rate, minimum_rate_s, tls_version, takes_any_line, idle_lifetime_s;
} ce_scalars;

// An easy handle and the values of its options, which libcurl keeps from request to request.
typedef struct ce_handle {
    CURL *easy;
    ce_multi *multi;  // whose share and loop the handle is set up for
    bool running;     // it is added to `multi`
    bool has_options; // libcurl accepted every option of the last request; if false, all are set again
    char *target;
    char *method;               // CURLOPT_CUSTOMREQUEST; NULL for none
    struct curl_slist *headers; // points into `header_lines`
    char *header_lines;
    size_t header_lines_size;
    char *proxy, *proxy_user, *proxy_password;
    ce_scalars scalars;
    long buffer_size, upload_buffer_size;
    bool holds_buffer; // libcurl still uses its receive buffer, whose size cannot be changed
    bool accepts_codings, decodes;
    bool has_post_fields;
    bool only_gets; // libcurl is set up for a request without body other than HEAD
    bool reports_progress;
    bool is_verbose; // see transfer/first_field.c
    bool shows_refusals; // libcurl itself repeats only refused streams: see transfer/options.c
} ce_handle;

// The parts of a `ce_request` that are needed while it runs. They do not change.
typedef struct ce_run_request {
    char host[CE_HOST_SIZE];
    char proxy_host[CE_HOST_SIZE]; // the proxy's host if it is itself reached over TLS
    size_t rule, proxy_rule;       // indexes in the rules of the trusts
    bool host_is_address, proxy_is_secure, proxy_is_address;
    bool secure, is_head;
    bool records_trust;
    int http_version; // ce_http_version
    size_t head_limit, head_line_limit, body_limit;
    unsigned expansion_limit;
    bool streams_redirects, streams_challenges, streams_retries;
    bool has_body;
    bool is_link; // only connects: see link/link.c
    bool expects_continue; // the head requests 100 Continue
    bool resends_at_once;  // libcurl may send the request again at once if its stream was refused
    bool gives_body; // piece by piece, through ce_on_upload
    void (*read_body)(void *owner, int64_t offset, void *buffer, size_t size);
    ce_supply (*take_body)(void *owner, void *buffer, size_t size);
} ce_run_request;

// How far the request body was sent.
typedef struct ce_run_send {
    int64_t left;        // of the announced length; -1 without one
    int64_t lent_offset; // of a lent body
    bool is_paused;
    bool has_begun, has_failed;
    bool had_early_response; // the final head arrived before the last piece was passed to libcurl
} ce_run_send;

// How far the response was received. The bytes are in `ce_buffers`.
typedef struct ce_run_receive {
    int status; // 0 until a final head has arrived
    bool head_done;
    bool is_void;    // the response only refuses the expectation of 100 Continue
    bool streams;    // the body is delivered in chunks
    bool is_paused;
    bool draining;
    size_t drain_left;
    size_t head_total, head_lines, body_total;
    long keep_alive_s; // how long the server keeps an idle connection; 0 if the server has not said so
    ce_spoken spoken; // the protocol of a response without a status line
    bool has_length, is_chunked;
    bool decodes;          // libcurl decodes the body
    unsigned coding_count; // content codings other than `identity`
    bool names_codings;    // the last field line is a Content-Encoding
    bool names_zstd;
    bool names_unknown; // a coding that libcurl does not know
    ce_refusal body_refusal;  // takes effect with the first byte of a body that may be unwanted
    size_t decoder_output;    // `body_total` when the decoder was last checked
    curl_off_t decoder_input; // how much had been received when `decoder_output` last changed
} ce_run_receive;

// The findings of the trust gates, and the connections that they concern.
typedef struct ce_run_gates {
    unsigned handshakes;         // since a socket was last opened
    unsigned request_gate_count; // the number of runs of the request gate
    ce_verdict verdict;          // the request gate's
    ce_report *report;           // made when the request gate refuses
    ce_report *trust;            // made when the request gate trusts a session, if the request records it
    bool missed_pins;            // of a rule that only reports
    bool blames_proxy;           // `report` is about the proxy
    ce_connection *connection;   // the last one whose handshake began
    ce_connection *carrier;      // the one that carries the request; NULL without TLS
    bool speaks_http2;
    char tls_version[16];
    char cipher[64];
} ce_run_gates;

// When libcurl must run once more: see transfer/early_responses.c.
typedef struct ce_run_early {
    bool needs_run;
    bool is_over; // the response is complete, and libcurl cannot send the rest of the request
    int reports_to_skip;
    int64_t checked_at_sent;
    int64_t stalled_at_sent;
} ce_run_early;

// Why libcurl sends a request again.
typedef enum ce_resend {
    CE_RESEND_NONE = 0,
    CE_RESEND_REFUSED,     // the server has refused the HTTP/2 stream
    CE_RESEND_HTTP_1_1,    // the server demands HTTP/1.1
    CE_RESEND_EXPECTATION, // the server does not know 100 Continue
    CE_RESEND_DEAD,        // a kept connection was closed
} ce_resend;

typedef struct ce_run {
    ce_run_request request;
    ce_run_send send;
    ce_run_receive receive;
    ce_run_gates gates;
    ce_run_early early;
    ce_refusal refusal;
    bool lacked_resources; // see ce_transfer_lacked_resources
    bool ended_well;     // it ended with success, and was sent exactly once
    unsigned send_count; // the number of attempts to send the request
    unsigned refused_count; // the number of these attempts that the server has certainly not processed
    bool sent_on_kept, sent_over_http2; // the connection of the last attempt
    uint32_t stream;        // the number of its HTTP/2 stream; 0 if it is not certain
    long request_size;      // libcurl's count of head bytes when it was last read
    ce_goaway goaway;       // of a connection without TLS that no other request uses
    ce_resend resend;       // why libcurl wanted to send the request again, although it may not
    ce_ended ended;
    int socket;          // the last one that libcurl used for it
    int opened;          // descriptor + 1 of the last socket that was opened for it; 0 for none
    int carrying;          // descriptor + 1 of the connection that carries it; 0 if that is not known
    uint32_t carrying_generation;
    int64_t started_us, sent_us, response_us; // monotonic
    int64_t last_activity_ms;                 // monotonic
    int64_t moved_bytes;                      // the total when libcurl was last queried
    char error_text[CURL_ERROR_SIZE];
} ce_run;

// The received bytes that were not delivered yet. The body of a stream is the chunk that is being filled; full ones are
// in `chunks`.
typedef struct ce_buffers {
    ce_bytes head, body, trailers, informational;
    ce_bytes chunks[CE_CHUNKS_MAXIMUM];
    unsigned chunk_first, chunk_count;
} ce_buffers;

// Places in the loop's lists. The values after each link have a meaning only while the transfer is in that list.
typedef struct ce_places {
    bool touched, is_sent;
    ce_transfer *next_touched;
    ce_transfer *next_sent;
    ce_transfer *next_watched, **watched_link; // the link is NULL outside the list
    int check_wait_ms;
    int64_t check_ms;
} ce_places;

struct ce_transfer {
    CURLU *url;
    char *origin; // the value of `url`
    void *owner;
    ce_handle handle;
    ce_run run;
    ce_buffers buffers;
    ce_places places;
};

static inline void ce_transfer_leave_carrier(ce_transfer *transfer) {
    ce_connection *carrier = transfer->run.gates.carrier;
    if (!carrier) return;
    carrier->carried--;
    ce_connection_release(carrier);
    transfer->run.gates.carrier = NULL;
}

// Keeps the first refusal.
static inline void ce_transfer_refuse(ce_transfer *transfer, ce_refusal refusal) {
    if (transfer->run.refusal == CE_REFUSED_NOT) transfer->run.refusal = refusal;
}

#endif
