// Shared by the C files of this target only.
#ifndef CE_INTERNAL_H
#define CE_INTERNAL_H

#include "CEssentials.h"

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>

struct ce_trust {
    atomic_uint references;
    uint64_t identity; // unique in the process: evidence made under one trust never serves another
    X509_STORE *store; // without the system's bundle until `has_anchors`
    char *system_file;  // the bundle; NULL for none
    atomic_bool has_anchors;
    X509 *identity_certificate;
    STACK_OF(X509) *identity_chain;
    EVP_PKEY *identity_key;
    ce_pin *pins;
    ce_rule *rules;
    size_t rule_count;
    int staple; // ce_staple
    int minimum_tls;
};

void ce_trust_retain(ce_trust *trust);
// Adds the system's bundle, if there is one, to the store. To be called before the store is used. False, with a verdict
// in `report`, if the bundle cannot be read. Any thread.
bool ce_trust_load_anchors(ce_trust *trust, ce_report *report);

// What a handshake proved. It hangs on the SSL_SESSION and follows it through tickets and resumption, so that a later
// request on a pooled or resumed connection can be judged by its own policy.
typedef struct ce_evidence {
    atomic_uint references;
    uint64_t trust_identity;
    char host[CE_HOST_SIZE];
    int64_t not_after; // earliest of the chain
    unsigned chain_count;
    ce_digests chain[CE_CHAIN_MAXIMUM];
} ce_evidence;

// One connection's side of the handshake gate. Owned by the SSL_CTX that libcurl makes for the connection and by the
// transfer that caused it: never the other way round, because the SSL_CTX outlives the transfer.
typedef struct ce_connection {
    atomic_uint references;
    ce_trust *trust;
    size_t rule; // of the trust's
    char host[CE_HOST_SIZE];
    bool host_is_address;
    bool is_proxy;   // it leads to the proxy
    bool was_closed; // the peer has sent close_notify
    ce_report report;
} ce_connection;

// Keys and digests of 112 bits of security, whatever the system's OpenSSL is told to take.
enum { CE_SECURITY_LEVEL = 2 };

#define CE_NO_PIN_MATCHES "no pin matches the verified chain"
#define CE_PINS_HAVE_EXPIRED "the pins have expired"

// What hangs on a TLS connection; NULL when it was not made through the handshake gate.
const ce_evidence *ce_evidence_of(const SSL *ssl);
ce_connection *ce_connection_of(const SSL *ssl);
void ce_connection_retain(ce_connection *connection);
// What is asked of a TLS peer.
typedef struct ce_peer {
    ce_trust *trust;
    size_t rule;
    const char *host;
    bool host_is_address;
} ce_peer;

ce_connection *ce_connection_create(const ce_peer *peer);
void ce_connection_release(ce_connection *connection);

enum { CE_ROUTE_BUCKETS = 64 };
enum { CE_UPLOAD_BUFFER_SIZE = 256 * 1024, CE_UPLOAD_BUFFER_SIZE_USUAL = 64 * 1024 };

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
    bool lacked_resources; // see ce_transfer_lacked_resources
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

struct ce_multi {
    ce_loop *loop;
    CURLM *curl;
    struct ce_share *share; // of TLS sessions, with its siblings
    ce_trust *trust;
    ce_trust *proxy_trust; // NULL for none
    int64_t timer_ms; // monotonic; -1 for none
    int running;           // transfers that are not done
    long most_connections; // what libcurl was told
    ce_multi *next;
};

struct ce_socket {
    ce_multi *multi;
    uint32_t events; // registered with epoll; 0 for none
    bool ours;       // opened by ce_open_socket, so its closing will be seen
    bool dormant;
    bool speaks_http2; // where libcurl can want to write and have nothing that it may
    bool muted;           // libcurl wants to write, and epoll is asked for reading only
    uint8_t idle_writes;  // how often in a row it was writable without anything being written
    uint64_t acknowledged; // bytes of the connection that the peer had acknowledged at the last of them
    uint32_t generation;  // tells sockets apart that had the same number
    uint64_t route_key;   // 0 for none
    int route_next;       // index + 1
};

typedef struct ce_chunk_pool ce_chunk_pool;
ce_chunk_pool *ce_chunk_pool_create(void);
// The pool goes with its last chunk.
void ce_chunk_pool_release(ce_chunk_pool *pool);
// CE_CHUNK_SIZE bytes, or NULL.
char *ce_chunk_take(ce_chunk_pool *pool);

struct ce_loop {
    ce_chunk_pool *chunks;
    int epoll;
    int wakeup;
    ce_settings settings; // its texts are owned
    struct curl_slist *resolve;
    int64_t now_ms;
    ce_multi *multis;
    struct ce_socket *sockets; // by file descriptor
    size_t socket_count;
    int *routes; // descriptors by the addresses they connect, as index + 1; chained in their entries
    size_t route_buckets; // a power of two; 0 before there is a table
    size_t route_count;
    size_t mutes;           // how often a socket was muted
    int64_t muted_until_ms; // when muted sockets are listened to again; 0 while none is
    ce_transfer *touched_first, *touched_last;
    ce_transfer *looks; // see ce_looks.c
    int64_t look_ms;    // when the next of them is due; 0 while none is
};

CURLM *ce_multi_init_closing_on_exec(void);
CURLSH *ce_multi_share(const ce_multi *multi);
void ce_transfer_touch(ce_transfer *transfer);
// Responses that are over before their requests are.
void ce_look_begin(ce_transfer *transfer);
void ce_look_paused(ce_transfer *transfer);
void ce_looks_overdue(ce_loop *loop);
// Whether this libcurl takes a response's fields for those of the one before: see ce_first_field.c.
bool ce_remembers_fields(void);
// Looks at the lines of a response, from its status line on, until its first field; and no longer.
void ce_await_first_field(ce_transfer *transfer);
void ce_await_no_field(ce_transfer *transfer);

// Whether a head's lines are framed as HTTP allows; notes how its body is.
bool ce_head_is_sound(ce_transfer *transfer);

// Which descriptor connects two addresses. Engine thread.
typedef struct ce_route {
    const char *remote, *local;
    int remote_port, local_port;
} ce_route;
int ce_route_find(ce_loop *loop, const ce_route *route);
// Learns it from a connection that was just opened for `transfer`.
void ce_route_learn(ce_transfer *transfer, const ce_route *route);
void ce_route_forget(ce_loop *loop, int fd);
int64_t ce_now_us(void);

// Notes how many transfers run on a multi handle, and bounds its idle connections by that.
void ce_multi_set_running(ce_multi *multi, int running);

// Easy options.
bool ce_options_set_once(ce_transfer *transfer);
// How large the buffer is that libcurl reads a request's response with.
long ce_buffer_size(const ce_request *request);
// The name of the option that libcurl refused, or NULL.
const char *ce_options_set(ce_transfer *transfer, ce_multi *multi, const ce_request *request, int *curl_code);
void ce_options_free(ce_transfer *transfer);

// Callbacks that ce_transfer.c installs and other files define.
curl_socket_t ce_open_socket(void *transfer, curlsocktype purpose, struct curl_sockaddr *address);
int ce_close_socket(void *loop, curl_socket_t socket);
CURLcode ce_install_handshake_gate(CURL *easy, void *ssl_context, void *transfer);
int ce_request_gate(void *transfer, char *remote, char *local, int remote_port, int local_port);

// Reading certificates.
bool ce_entry_fill(ce_chain_entry *entry, X509 *certificate); // both of the following
bool ce_entry_measure(ce_chain_entry *entry, X509 *certificate);
bool ce_entry_name(ce_chain_entry *entry, X509 *certificate);
void ce_openssl_text(char text[CE_TEXT_SIZE], const char *fallback);

typedef enum ce_pin_outcome { CE_PINS_MET, CE_PINS_MISSED, CE_PINS_REPORTED, CE_PINS_EXPIRED } ce_pin_outcome;

// Whether a rule has expired and refuses its hosts since then.
bool ce_rule_refuses_now(const ce_trust *trust, size_t rule);
// Judges a verified chain by a rule.
ce_pin_outcome ce_pins_judge(const ce_trust *trust, size_t rule, const ce_digests *chain, unsigned count);
// Whether the certificate status that a server stapled lets its certificate pass; else `report` says why not.
bool ce_staple_is_good(SSL *ssl, const ce_trust *trust, ce_report *report);
void ce_copy_text(char *to, size_t size, const char *from);
// Of a chain that is trusted and kept no pin waiting, the names are recorded only on demand.
int ce_verify(X509_STORE_CTX *context, const ce_peer *peer, bool names_trusted, ce_report *report);

#endif
