// Swift imports only this header, with ce_connections.h, ce_links.h and ce_report.h, which it includes. It names no type
// of libcurl or OpenSSL, so importing this module does not import their headers.
//
// Threads: a `ce_loop`, its `ce_multi`s and its `ce_transfer`s belong to one thread, the engine's. A `ce_trust` does
// not change after its creation and may be used on any thread. Functions that return `int` return 0 for success unless
// stated otherwise.
#ifndef CESSENTIALS_H
#define CESSENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ce_connections.h"
#include "ce_links.h"
#include "ce_report.h"

// MARK: Libraries

typedef struct ce_library_facts {
    const char *_Nonnull curl_version;
    const char *_Nonnull tls_version;
    unsigned curl_version_number; // 0x075801 is 7.88.1
    unsigned long openssl_version_number;
    bool http2;
    bool asynchronous_names;
} ce_library_facts;

/// Initialises libcurl once per process and describes the libraries. Any thread.
ce_library_facts ce_libraries(void);

/// The codings that libcurl can decode, as the value of `Accept-Encoding`. For a streamed body zstd is left out,
/// because its window can be 128 MiB. The text is never freed. Any thread.
const char *_Nonnull ce_accepted_encodings(bool streamed);

// MARK: Hashes

typedef struct ce_digest ce_digest;

/// Creates a SHA-256 computation (FIPS 180-4). NULL without memory. One thread at a time.
ce_digest *_Nullable ce_digest_create(void);
void ce_digest_destroy(ce_digest *_Nullable digest);
bool ce_digest_update(ce_digest *_Nonnull digest, const void *_Nullable data, size_t size);
/// Writes 32 bytes. Nothing may be added afterwards.
bool ce_digest_finish(ce_digest *_Nonnull digest, uint8_t *_Nonnull out);

typedef enum ce_hash_function { CE_HASH_MD5 = 0, CE_HASH_SHA256 = 1, CE_HASH_SHA512_256 = 2 } ce_hash_function;

enum { CE_HASH_SIZE = 64 };

/// Hashes bytes into `out`, which has room for CE_HASH_SIZE. False if OpenSSL lacks the function or memory.
bool ce_hash(ce_hash_function function, const void *_Nullable data, size_t size, uint8_t *_Nonnull out,
             size_t *_Nonnull out_size);

// MARK: Trust

typedef enum ce_pin_kind { CE_PIN_PUBLIC_KEY = 0, CE_PIN_CERTIFICATE = 1 } ce_pin_kind;

typedef enum ce_pin_scope { CE_PIN_ANYWHERE = 0, CE_PIN_LEAF = 1, CE_PIN_ISSUER = 2 } ce_pin_scope;

typedef struct ce_pin {
    int kind;  // ce_pin_kind
    int scope; // ce_pin_scope
    uint8_t digest[CE_DIGEST_SIZE];
} ce_pin;

/// The requirements for a host in addition to a verified chain and host name. A rule without pins requires nothing.
typedef struct ce_rule {
    size_t first_pin, pin_count; // indexes in the policy's pins
    bool report_only;
    int64_t expires; // seconds since 1970; INT64_MAX for never
    bool refuses_when_expired;
} ce_rule;

typedef enum ce_staple { CE_STAPLE_IGNORED = 0, CE_STAPLE_JUDGED = 1, CE_STAPLE_REQUIRED = 2 } ce_staple;

typedef struct ce_trust_config {
    const char *_Nullable system_file;      // bundle, read at the first handshake; NULL for none
    const char *_Nullable system_directory; // directory with OpenSSL hash links; NULL for none
    const char *_Nullable anchors_pem;      // explicit anchors, concatenated; NULL for none
    size_t anchors_pem_size;
    const char *_Nullable identity_certificate_pem; // leaf first, then its chain; NULL for none
    size_t identity_certificate_pem_size;
    const char *_Nullable identity_key_pem;
    size_t identity_key_pem_size;
    const char *_Nullable passphrase; // of the key; NULL for none
    const char *_Nullable revocation_pem; // revocation lists, concatenated; NULL for none
    size_t revocation_pem_size;
    int staple; // ce_staple
    const ce_pin *_Nullable pins;
    size_t pin_count;
    const ce_rule *_Nullable rules;
    size_t rule_count;
    int minimum_tls; // 0x0303 is TLS 1.2, 0x0304 is TLS 1.3
} ce_trust_config;

typedef enum ce_trust_error_kind {
    CE_TRUST_OK = 0,
    CE_TRUST_OUT_OF_MEMORY,
    CE_TRUST_SYSTEM_ANCHORS,
    CE_TRUST_ANCHORS,
    CE_TRUST_IDENTITY_CERTIFICATE,
    CE_TRUST_IDENTITY_KEY,
    CE_TRUST_IDENTITY_MISMATCH,
    CE_TRUST_PASSPHRASE,
    CE_TRUST_REVOCATION,
    CE_TRUST_REVOCATION_SCOPE, // OpenSSL would ignore a list
} ce_trust_error_kind;

typedef struct ce_trust_error {
    ce_trust_error_kind kind;
    char text[CE_TEXT_SIZE]; // OpenSSL's error
} ce_trust_error;

typedef struct ce_trust ce_trust;

/// Compiles a policy. The result has one reference. NULL, with `error` filled, if a part of the policy cannot be used.
ce_trust *_Nullable ce_trust_create(const ce_trust_config *_Nonnull config, ce_trust_error *_Nonnull error);
void ce_trust_release(ce_trust *_Nullable trust);

/// Reads every certificate of a PEM text. Returns their number, at most CE_CHAIN_MAXIMUM, or -1 with `error` filled.
int ce_inspect_pem(
    const char *_Nonnull pem, size_t size, ce_report *_Nonnull report, ce_trust_error *_Nonnull error);

typedef enum ce_probe_result {
    CE_PROBE_OK = 0,
    CE_PROBE_CONNECT,
    CE_PROBE_TIMEOUT,
    CE_PROBE_TLS,
    CE_PROBE_MEMORY,
} ce_probe_result;

/// Connects a TLS client on the calling thread, reads the presented chain and closes the connection without sending
/// application data. `report->verdict` says whether `trust` accepts the chain for `host`. A refused chain is reported
/// as well.
ce_probe_result ce_probe(
    const char *_Nonnull host, const char *_Nonnull address, uint16_t port, ce_trust *_Nonnull trust, size_t rule,
    int timeout_ms, ce_report *_Nonnull report);

/// Judges a DER chain, leaf first, like the handshake gate. False if the chain is refused; `report` says why.
bool ce_trust_evaluate(
    ce_trust *_Nonnull trust, size_t rule, const char *_Nonnull host, bool host_is_address,
    const uint8_t *_Nonnull const *_Nonnull certificates, const size_t *_Nonnull sizes, size_t count,
    ce_report *_Nonnull report);
typedef enum ce_install_result {
    CE_INSTALL_DONE,
    /// The context already has the gate for another policy, rule or host.
    CE_INSTALL_TAKEN,
    /// OpenSSL refused, or there was no memory.
    CE_INSTALL_FAILED,
} ce_install_result;

/// Installs the handshake gate for one host on an `SSL_CTX` that the caller created. The caller sets the host as the
/// server name of its `SSL`, unless the host is an address. A context that has the gate for another policy, rule or
/// host is not changed. For the same ones, the report of the last handshake is cleared.
ce_install_result ce_trust_install(
    ce_trust *_Nonnull trust, size_t rule, const char *_Nonnull host, bool host_is_address, void *_Nonnull ssl_context);
/// The report of the gate that was installed on an `SSL_CTX`, or NULL if there is no gate.
const ce_report *_Nullable ce_trust_installed_report(void *_Nonnull ssl_context);
/// Judges an `SSL` whose handshake is complete, like the request gate. This includes resumed sessions.
bool ce_trust_judge(
    ce_trust *_Nonnull trust, size_t rule, const char *_Nonnull host, void *_Nonnull ssl, ce_report *_Nonnull report);

// MARK: Loop

typedef struct ce_multi ce_multi;

/// Creates an eventfd that wakes a loop. The caller closes it. -1 with errno set if that fails.
int ce_wakeup_create(void);
/// Wakes the loop. Any thread.
void ce_wakeup_signal(int wakeup_fd);

/// Settings of all transfers of a loop.
typedef struct ce_settings {
    const char *_Nullable resolve; // "HOST:PORT:ADDRESS" texts, each ended by a NUL, then an empty one
    const char *_Nullable unix_socket; // a path, or a name in the abstract namespace
    bool unix_socket_is_abstract;
    const char *_Nullable interface; // in the format of CURLOPT_INTERFACE
    long name_lifetime_s;            // how long an address is cached; -1 for no limit
    long happy_eyeballs_ms;          // how long IPv6 is tried before IPv4
    long idle_lifetime_s;            // a connection that was idle for longer is not reused
    long connection_lifetime_s;      // a connection that is older is not reused; 0 for no limit
    long keep_alive_s;               // idle time before the system probes the peer; 0 for no probes
    long connection_cache;           // how many idle connections are kept
    long streams_per_connection;     // HTTP/2 streams
    bool notes_connections;          // each opening and closing of a connection is noted, until the caller has read it
} ce_settings;

/// Creates an epoll loop. `settings` are copied. `wakeup_fd` wakes the loop and is not closed by it. NULL with errno
/// set if that fails.
ce_loop *_Nullable ce_loop_create(int wakeup_fd, const ce_settings *_Nonnull settings);
/// Every multi of the loop must have been destroyed before.
void ce_loop_destroy(ce_loop *_Nullable loop);
/// Runs the timers that are due.
void ce_loop_run_due(ce_loop *_Nonnull loop);
/// Waits for events, at most `maximum_ms` (-1 for no limit), and serves them. Returns -1 with errno
/// set if epoll fails.
int ce_loop_wait(ce_loop *_Nonnull loop, int maximum_ms);
/// Monotonic milliseconds at the last wait or the last check of the timers.
int64_t ce_loop_now_ms(const ce_loop *_Nonnull loop);
/// The number of times that a writable socket was not watched for a moment, because nothing was written.
size_t ce_loop_mutes(const ce_loop *_Nonnull loop);
int64_t ce_now_ms(void);

/// Creates a libcurl multi handle. `trust` judges hosts. `proxy_trust` judges proxies that are themselves reached over
/// TLS. Both are retained. TLS sessions are shared with `sibling`, which must have the same trust; NULL for none.
ce_multi *_Nullable ce_multi_create(
    ce_loop *_Nonnull loop, ce_trust *_Nonnull trust, ce_trust *_Nullable proxy_trust, ce_multi *_Nullable sibling);
void ce_multi_destroy(ce_multi *_Nullable multi);

/// The next finished transfer, already removed from its multi, or NULL. Call it after every wait until it returns NULL.
ce_transfer *_Nullable ce_multi_next_done(ce_multi *_Nonnull multi, int *_Nonnull curl_code);

/// The next transfer that needs attention because of its head, a chunk or its upload, or NULL.
ce_transfer *_Nullable ce_loop_next_touched(ce_loop *_Nonnull loop);

// MARK: Transfers

/// For streamed bodies: the size of a chunk, and the maximum numbers of chunks that wait in a transfer and of unused
/// chunks that are kept.
enum { CE_CHUNK_SIZE = 128 * 1024, CE_CHUNKS_MAXIMUM = 16, CE_CHUNKS_KEPT = 32 };
/// The size up to which a compressed body may expand by any factor, and the largest allocation for an announced length.
enum { CE_EXPANSION_FLOOR = 16 << 20, CE_TRUSTED_LENGTH = 16 << 20 };
/// The maximum number of bytes of a compressed body that are received while its decoder produces no output.
enum { CE_DECODER_INPUT_MAXIMUM = 1 << 20 };

typedef struct ce_bytes {
    char *_Nullable data; // allocated with malloc
    size_t count;
    size_t capacity;
} ce_bytes;

typedef enum ce_http_version { CE_HTTP_ANY = 0, CE_HTTP_1_1 = 1, CE_HTTP_2 = 2 } ce_http_version;

typedef enum ce_body_kind { CE_BODY_NONE = 0, CE_BODY_BYTES = 1, CE_BODY_STREAM = 2, CE_BODY_LENT = 3 } ce_body_kind;

/// The result of reading from a streamed body.
typedef struct ce_supply {
    size_t count;     // bytes that were copied
    size_t available; // `count`, and the rest of the last piece
    bool ended;       // nothing follows the available bytes
} ce_supply;

/// All parameters of one request. Pointers are used during the call only. Those that are not marked nullable must be
/// set.
struct ce_request {
    const char *_Null_unspecified origin; // "https://host:port", normalised, without a path
    const char *_Null_unspecified host;   // normalised; an IPv6 address has no brackets
    bool host_is_address;
    bool secure;
    const char *_Null_unspecified target; // exactly the target of the request line
    const char *_Null_unspecified method;
    bool resends_at_once;        // is sent again at once if the server has refused its HTTP/2 stream
    bool expects_continue;       // `headers` expect 100 Continue
    const char *_Null_unspecified headers; // lines "Name: value", each ended by a NUL, then an empty one
    size_t headers_size;
    int body_kind; // ce_body_kind
    const void *_Nullable body; // CE_BODY_BYTES: copied
    size_t body_size;
    int64_t body_length; // CE_BODY_STREAM and CE_BODY_LENT: bytes; -1 for chunked
    /// CE_BODY_LENT: copies a part of the body into `buffer`. Called on the loop's thread with the transfer's owner.
    void (*_Nullable read_body)(void *_Null_unspecified owner, int64_t offset, void *_Nonnull buffer, size_t size);
    /// CE_BODY_STREAM: copies the next bytes into `buffer`. Called on the loop's thread with the transfer's owner.
    /// After it returned no bytes before the end, it is called again once `ce_transfer_resume_upload` was called.
    ce_supply (*_Nullable take_body)(void *_Null_unspecified owner, void *_Nonnull buffer, size_t size);
    long connect_timeout_ms;
    long continue_wait_ms;   // how long a body waits for the 100 Continue that `headers` expect
    long minimum_rate;       // bytes a second, averaged over `minimum_rate_s`; 0 for none
    long minimum_rate_s;
    unsigned expansion_limit; // the maximum factor by which a compressed body may expand; 0 for no limit
    const char *_Nullable proxy; // URL without credentials; NULL for none
    const char *_Nullable proxy_user;
    const char *_Nullable proxy_password;
    size_t head_limit;      // bytes
    size_t head_line_limit; // lines, with those of informational heads and trailers
    size_t body_limit;
    int http_version; // ce_http_version
    long idle_lifetime_s; // shortens that of the settings; 0 leaves it as it is
    bool wait_for_multiplexing;
    bool decompress;
    bool streaming;
    bool streams_redirects;  // the body of a redirect is streamed even if bodies are collected
    bool streams_challenges; // the same for the body of a 401
    bool streams_retries;    // the same for the bodies of 408, 421, 425, 429, 500, 502, 503 and 504
    bool fresh_connection;
    bool full_handshake; // no TLS session is resumed
    bool records_trust;  // the answer has a `trust` report
    size_t rule;       // index in the trust's rules, for the host
    size_t proxy_rule; // index in the rules of the proxies' trust, for `proxy_host`
    const char *_Nullable proxy_host; // the proxy's host if it is itself reached over TLS
    bool proxy_is_address;
};

typedef enum ce_refusal {
    CE_REFUSED_NOT = 0,
    CE_REFUSED_BODY_LIMIT,
    CE_REFUSED_HEAD_LIMIT,
    CE_REFUSED_MEMORY,
    CE_REFUSED_RESEND,
    CE_REFUSED_NOT_HTTP2,
    CE_REFUSED_TRUST,
    CE_REFUSED_UPLOAD,        // the source failed
    CE_REFUSED_UPLOAD_LENGTH, // the source ended before its length or exceeded it
    CE_REFUSED_PROTOCOL,      // a status that HTTP does not define or that this request does not allow
    CE_REFUSED_FRAMING,       // lengths or transfer codings that contradict each other
    CE_REFUSED_STALE,         // a kept connection that holds excess bytes, was closed or cannot be checked
    CE_REFUSED_EXPANSION,     // a compressed body expands beyond its limit
    CE_REFUSED_LINE,          // a line of the head that is neither a field nor its end
    CE_REFUSED_HEAD_LINES,    // more lines than a head may have
    CE_REFUSED_STATUS_LINE,   // the first line of a head is not a status line
    CE_REFUSED_CODINGS,       // several nested content codings
    CE_REFUSED_CODING,        // zstd for a stream
    CE_REFUSED_DECODER,       // a compressed body whose decoder produces no output
    CE_REFUSED_UNJUDGED,      // a response over https to a request that did not pass the request gate
} ce_refusal;

/// How the wire ended a transfer, as far as it decides whether the request is sent again. The table is in
/// EssentialsCurl, WireEnding.swift.
typedef enum ce_ended {
    CE_ENDED_OTHERWISE = 0,
    CE_ENDED_REFUSED,       // the server has refused the HTTP/2 stream, or its GOAWAY excludes it
    CE_ENDED_HTTP_1_1,      // the same, because the server demands HTTP/1.1
    CE_ENDED_EXPECTATION,   // 417 to an expected 100 Continue
    CE_ENDED_DEAD,          // a kept connection ended before the response
    CE_ENDED_LOST_RESPONSE, // libcurl has discarded a response that arrived before the end of the request
    CE_ENDED_NO_IDENTITY,   // the server requested a client certificate, received none, and ended the connection
} ce_ended;

typedef struct ce_timings {
    // Microseconds since the start; 0 if not reached. `began_us` is when the request's first byte was sent. `sent_us`
    // is known only for lent and streamed bodies.
    int64_t resolved_us, connected_us, secured_us, began_us, sent_us, first_byte_us, total_us;
    int64_t body_bytes_received, body_bytes_sent;
    long http_version; // 10, 11 or 20
    bool reused;
    char peer_address[48]; // has the same size in UnreadConnection, to which it is copied
    long peer_port;
} ce_timings;

/// Creates an easy handle with its URL handle and buffers. It is reused from request to request.
ce_transfer *_Nullable ce_transfer_create(void);
void ce_transfer_destroy(ce_transfer *_Nullable transfer);

/// Releases everything that belongs to the last request. False if the transfer cannot be reused and must be destroyed.
bool ce_transfer_rest(ce_transfer *_Nonnull transfer);

/// Sets every option of one request. The result is the name of the option that libcurl refused, with libcurl's code in
/// `curl_code`, or NULL.
const char *_Nullable ce_transfer_prepare(
    ce_transfer *_Nonnull transfer, ce_multi *_Nonnull multi, const ce_request *_Nonnull request,
    int *_Nonnull curl_code);
/// Adds the transfer to its multi. Returns the CURLMcode.
int ce_transfer_start(ce_transfer *_Nonnull transfer);
/// Removes a running transfer from its multi. Does not wait for a name that is being resolved.
void ce_transfer_abort(ce_transfer *_Nonnull transfer);

void ce_transfer_set_owner(ce_transfer *_Nonnull transfer, void *_Nullable owner);
void *_Nullable ce_transfer_owner(const ce_transfer *_Nonnull transfer);

bool ce_transfer_has_first_byte(const ce_transfer *_Nonnull transfer);
bool ce_transfer_has_head(const ce_transfer *_Nonnull transfer);
/// How long the server keeps an idle connection, in seconds; 0 if the server has not said so.
long ce_transfer_keep_alive_s(const ce_transfer *_Nonnull transfer);
/// Whether the body is delivered as a stream, either because of the request or because of the status.
bool ce_transfer_streams(const ce_transfer *_Nonnull transfer);
/// Moves the trailer fields out. The caller frees `data`.
ce_bytes ce_transfer_take_trailers(ce_transfer *_Nonnull transfer);

/// Whether any byte of a response was received, or any byte of the request body was sent.
bool ce_transfer_may_have_bytes(const ce_transfer *_Nonnull transfer);
ce_refusal ce_transfer_refusal(const ce_transfer *_Nonnull transfer);
/// The protocol of the peer if the refusal is CE_REFUSED_STATUS_LINE.
ce_spoken ce_transfer_spoken(const ce_transfer *_Nonnull transfer);
/// Whether a socket could not be opened for lack of a descriptor or memory.
bool ce_transfer_lacked_resources(const ce_transfer *_Nonnull transfer);
/// The findings of the gates: the request gate's report if it refused, otherwise that of the last handshake; NULL
/// without either. Valid until the transfer rests, is prepared again or is destroyed.
const ce_report *_Nullable ce_transfer_report(const ce_transfer *_Nonnull transfer);
/// Whether that report is about the proxy instead of the host.
bool ce_transfer_report_is_of_proxy(const ce_transfer *_Nonnull transfer);
/// The chain that lacked the pins of a rule that only reports, or NULL.
const ce_report *_Nullable ce_transfer_missed_pins(const ce_transfer *_Nonnull transfer);
const char *_Nonnull ce_transfer_error_text(const ce_transfer *_Nonnull transfer);
const char *_Nonnull ce_curl_text(int curl_code);
/// The `errno` of the last failed connection, or 0.
int ce_transfer_system_error(const ce_transfer *_Nonnull transfer);
/// The status of the proxy's last response to CONNECT, or 0.
int ce_transfer_connect_status(const ce_transfer *_Nonnull transfer);
/// 10, 11 or 20.
long ce_transfer_http_version(const ce_transfer *_Nonnull transfer);
ce_timings ce_transfer_timings(const ce_transfer *_Nonnull transfer);
/// Monotonic milliseconds of the last progress. Queries libcurl's counters, because a body that is sent from memory
/// causes no callback.
int64_t ce_transfer_last_activity_ms(ce_transfer *_Nonnull transfer);
bool ce_transfer_receiving_is_paused(const ce_transfer *_Nonnull transfer);
unsigned ce_transfer_send_count(const ce_transfer *_Nonnull transfer);
/// The number of these attempts that the server has certainly not processed.
unsigned ce_transfer_refused_count(const ce_transfer *_Nonnull transfer);
/// How the wire ended the transfer. Known once `ce_multi_next_done` has returned it.
ce_ended ce_transfer_ended(const ce_transfer *_Nonnull transfer);
/// Whether the server has asked for less load with the GOAWAY that ended the transfer.
bool ce_transfer_is_calmed(const ce_transfer *_Nonnull transfer);
/// Whether a final response has arrived as a whole, as its head announces it.
bool ce_transfer_has_whole_response(const ce_transfer *_Nonnull transfer);
/// Whether such a response has arrived and libcurl cannot send the rest of the request: the caller then ends the
/// transfer. Call it for each touched transfer.
bool ce_transfer_is_over(const ce_transfer *_Nonnull transfer);
/// Whether the connection of the last attempt speaks HTTP/2.
bool ce_transfer_speaks_http2(const ce_transfer *_Nonnull transfer);
/// Whether a part of a streamed request body was passed to libcurl.
bool ce_transfer_body_has_begun(const ce_transfer *_Nonnull transfer);
/// Whether a body that ends with its TLS connection ended without close_notify, and so may be incomplete.
bool ce_transfer_was_cut(const ce_transfer *_Nonnull transfer);
/// Whether the connection was opened for an earlier request. The transfer need not have sent anything.
bool ce_transfer_on_kept_connection(const ce_transfer *_Nonnull transfer);

// MARK: Responses

/// The maximum number of unused answers that are kept, and the largest buffer that each of them keeps.
enum { CE_ANSWERS_KEPT = 256, CE_ANSWER_BUFFER_KEPT = 4096 };

/// A received response. One thread at a time. The body of a stream is not in it.
typedef struct ce_answer {
    int status;
    ce_bytes head;
    ce_bytes body; // a reader that takes ownership of `data` sets it to NULL and both counts to 0
    ce_bytes trailers;
    ce_bytes informational; // the heads of informational responses, concatenated
    ce_timings timings;
    unsigned send_count;
    unsigned earlier_sendings; // attempts of earlier transfers; set by the caller, like `queued_ms`
    int64_t queued_ms;
    char tls_version[16]; // of the connection; empty without TLS, like `cipher`
    char cipher[64];
    /// The trusted chain and the matched pin, if the request records them. The answer owns it. The names and times of a
    /// resumed session's chain are empty.
    ce_report *_Nullable trust;
    struct ce_answer *_Nullable next;
} ce_answer;

typedef struct ce_answer_pool ce_answer_pool;

ce_answer_pool *_Nullable ce_answer_pool_create(void);
/// Call it when no answer will be returned any more.
void ce_answer_pool_destroy(ce_answer_pool *_Nullable pool);
/// Moves the response out of a transfer that has a final head. NULL without memory. Engine thread.
ce_answer *_Nullable ce_transfer_take_answer(ce_transfer *_Nonnull transfer, ce_answer_pool *_Nonnull pool);
/// Returns an answer to the pool after it was read. Any thread.
void ce_answer_give(ce_answer_pool *_Nonnull pool, ce_answer *_Nonnull answer);
void ce_answer_destroy(ce_answer *_Nullable answer);

// MARK: Streaming

/// The next full chunk, or with `partial` also the one that is being filled. `data` is NULL if there is none. The
/// caller returns the chunk with `ce_chunk_give`, on any thread.
ce_bytes ce_transfer_take_chunk(ce_transfer *_Nonnull transfer, bool partial);
void ce_chunk_give(char *_Nullable data);
/// Pauses or resumes receiving. Resuming may call the write callback at once. Returns the CURLcode.
int ce_transfer_pause_receiving(ce_transfer *_Nonnull transfer, bool paused);
/// Reads the rest of the body and discards it, so that the connection can be reused. False if the rest is longer than
/// `maximum` bytes or the connection cannot be reused this way: the caller then ends the transfer. If the rest turns
/// out to be longer, the transfer fails.
bool ce_transfer_drain(ce_transfer *_Nonnull transfer, size_t maximum);
/// Whether sending waits for the next piece of the body.
bool ce_transfer_sending_is_paused(const ce_transfer *_Nonnull transfer);
/// Makes libcurl check a paused upload again if its response requires that. Call it for each touched transfer.
/// Returns the CURLcode.
int ce_transfer_ask_again(ce_transfer *_Nonnull transfer);
/// Resumes reading from a streamed body that had no bytes. Returns the CURLcode.
int ce_transfer_resume_upload(ce_transfer *_Nonnull transfer);
/// Ends a streamed request body with a failure, which aborts the transfer.
int ce_transfer_fail_upload(ce_transfer *_Nonnull transfer);

#endif
