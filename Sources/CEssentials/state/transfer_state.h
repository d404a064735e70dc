// The data of a transfer. The functions stand in transfer/.
#ifndef CE_TRANSFER_STATE_H
#define CE_TRANSFER_STATE_H

#include "../trust/evidence.h"
#include "loop_state.h"

// Options without text, that differ from request to request. No padding: they are compared as bytes.
typedef struct ce_scalars {
    long connect_timeout_ms, http_version, waits_for_sharing, fresh_connection, forbids_reuse, keeps_sessions;
    long continue_wait_ms, minimum_rate, minimum_rate_s, tls_version;
} ce_scalars;

struct ce_transfer {
    CURL *easy;
    CURLU *url;
    char *origin; // what `url` holds
    char *target;
    char *method;
    struct curl_slist *headers;
    char *proxy, *proxy_user, *proxy_password;
    char proxy_host[CE_HOST_SIZE]; // where the proxy itself is spoken to over TLS
    bool proxy_is_secure, proxy_is_address;
    unsigned handshakes; // that were begun since a socket was last opened
    size_t rule, proxy_rule; // of the trusts
    ce_scalars scalars;      // what libcurl has of them
    bool missed_pins;        // of a rule that only reports
    bool blames_proxy;       // the request gate's report is about the proxy
    long buffer_size, upload_buffer_size;
    bool decompress, has_post_fields;
    bool only_gets;    // libcurl has it for a request without body, and not for HEAD
    bool is_fresh;     // libcurl has none of this transfer's options yet
    bool awaits_field; // see ce_first_field.c
    bool ended_well;   // it came to its end, and was sent once on the way
    bool holds_buffer; // libcurl has not let go of its buffer, whose size cannot be changed
    char *header_lines; // what `headers` holds
    size_t header_lines_size;

    ce_multi *multi;
    void *owner;
    bool running;
    bool secure;
    bool idempotent;
    bool streaming;
    int http_version;
    unsigned gate_count; // how often the request gate was asked
    char host[CE_HOST_SIZE];
    bool host_is_address;
    unsigned send_count;

    int status;
    bool head_done;
    ce_bytes head, body, trailers, informational;
    size_t head_limit, head_line_limit, body_limit;
    size_t body_total, head_total, head_lines;
    unsigned coding_count;        // content codings that libcurl undoes
    bool names_codings;           // whether the last field line is a Content-Encoding
    bool names_zstd;
    ce_refusal body_refusal; // takes effect with the first byte of a body that may be unwanted
    size_t decoder_output;        // `body_total` when the decoder was last checked
    curl_off_t decoder_input;     // how much had been received when `decoder_output` last changed
    bool streams_redirects, streams_challenges; // see ce_request
    unsigned expansion_limit;
    bool draining;
    size_t drain_left;
    int64_t started_us, sent_us, answered_us; // monotonic
    int64_t last_activity_ms;
    int64_t moved_bytes; // when libcurl was last asked

    ce_refusal refusal;
    ce_verdict verdict; // the request gate's
    ce_report *report;  // made when that gate refuses
    ce_connection *connection;
    ce_connection *carrier; // the connection that carries the request; NULL without TLS
    bool speaks_http2;
    bool is_head, has_length, is_chunked;
    int socket; // the last one that was opened for it; -1 for none
    char tls_version[16];
    char cipher[64];
    char error_text[CURL_ERROR_SIZE];

    ce_bytes chunks[CE_CHUNKS_MAXIMUM];
    unsigned chunk_first, chunk_count;
    bool receive_paused, send_paused;
    void (*read_body)(void *owner, int64_t offset, void *buffer, size_t size);
    int64_t lent_offset;
    ce_supply (*take_body)(void *owner, void *buffer, size_t size);
    int64_t upload_left; // of the announced length; -1 when none was
    bool upload_begun, upload_failed;
    bool reports_progress; // libcurl's option
    bool has_request_body;
    bool gives_body;         // piece by piece, through ce_on_upload
    bool was_answered_early; // before the last piece
    bool asks_again;       // see ce_looks.c, and all that follows
    int reports_to_skip;
    int look_wait_ms;
    int64_t look_ms, looked_at_sent;
    ce_transfer *next_look, **look_link;
    bool touched;
    ce_transfer *next_touched;
};

// The first refusal stands.
static inline void ce_transfer_refuse(ce_transfer *transfer, ce_refusal refusal) {
    if (transfer->refusal == CE_REFUSED_NOT) transfer->refusal = refusal;
}

#endif
