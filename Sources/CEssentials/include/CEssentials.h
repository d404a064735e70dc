// The only header of the C shim that Swift sees. Nothing here names a libcurl or OpenSSL type, so importing this module
// costs neither library's headers.
//
// Threads: a `ce_loop`, its `ce_multi`s and `ce_transfer`s belong to one thread, the engine's. A `ce_trust` is immutable
// once made and may be used from any thread. Functions that return `int` return 0 for success.
#ifndef CESSENTIALS_H
#define CESSENTIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Libraries

typedef struct ce_library_facts {
    const char *_Nonnull curl_version;
    const char *_Nonnull tls_version;
    unsigned curl_version_number; // 0x075801 is 7.88.1
    unsigned long openssl_version_number;
    bool http2;
    bool asynchronous_names;
} ce_library_facts;

/// Initialises libcurl once for the process and says what was found. Any thread.
ce_library_facts ce_libraries(void);

/// The codings that libcurl can decode, as the value of `Accept-Encoding`. For a streamed body zstd is left out,
/// because its window can be 128 MiB. Any thread; never freed.
const char *_Nonnull ce_accepted_encodings(bool streamed);

// MARK: Digests

typedef struct ce_digest ce_digest;

/// SHA-256 (FIPS 180-4). NULL without memory. One thread at a time.
ce_digest *_Nullable ce_digest_create(void);
void ce_digest_destroy(ce_digest *_Nullable digest);
bool ce_digest_update(ce_digest *_Nonnull digest, const void *_Nullable data, size_t size);
/// Writes 32 bytes; nothing may be added afterwards.
bool ce_digest_finish(ce_digest *_Nonnull digest, uint8_t *_Nonnull out);

typedef enum ce_hash_function { CE_HASH_MD5 = 0, CE_HASH_SHA256 = 1, CE_HASH_SHA512_256 = 2 } ce_hash_function;

enum { CE_HASH_SIZE = 64 };

/// Hashes bytes into `out`, which has room for CE_HASH_SIZE. False where OpenSSL lacks the function, or memory.
bool ce_hash(ce_hash_function function, const void *_Nullable data, size_t size, uint8_t *_Nonnull out,
             size_t *_Nonnull out_size);

// MARK: Trust

enum { CE_DIGEST_SIZE = 32, CE_CHAIN_MAXIMUM = 12, CE_TEXT_SIZE = 192, CE_HOST_SIZE = 256 };

typedef enum ce_pin_kind { CE_PIN_PUBLIC_KEY = 0, CE_PIN_CERTIFICATE = 1 } ce_pin_kind;

typedef enum ce_pin_scope { CE_PIN_ANYWHERE = 0, CE_PIN_LEAF = 1, CE_PIN_ISSUER = 2 } ce_pin_scope;

typedef struct ce_pin {
    int kind;  // ce_pin_kind
    int scope; // ce_pin_scope
    uint8_t digest[CE_DIGEST_SIZE];
} ce_pin;

/// What some hosts have to show beyond a verified chain and host name. Without pins, nothing.
typedef struct ce_rule {
    size_t first_pin, pin_count; // of the policy's pins
    bool report_only;
    int64_t expires; // seconds since 1970; INT64_MAX for never
    bool refuses_when_expired;
} ce_rule;

typedef enum ce_staple { CE_STAPLE_IGNORED = 0, CE_STAPLE_JUDGED = 1, CE_STAPLE_REQUIRED = 2 } ce_staple;

typedef struct ce_trust_config {
    const char *_Nullable system_file;      // bundle, read at the first handshake; NULL for none
    const char *_Nullable system_directory; // directory with OpenSSL hash links; NULL for none
    const char *_Nullable anchors_pem;      // explicit anchors, one after the other; NULL for none
    size_t anchors_pem_size;
    const char *_Nullable identity_certificate_pem; // leaf first, then its chain; NULL for none
    size_t identity_certificate_pem_size;
    const char *_Nullable identity_key_pem;
    size_t identity_key_pem_size;
    const char *_Nullable passphrase; // of the key; NULL for none
    const char *_Nullable revocation_pem; // lists, one after the other; NULL for none
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
    CE_TRUST_REVOCATION_SCOPE, // a list that could not be judged
} ce_trust_error_kind;

typedef struct ce_trust_error {
    ce_trust_error_kind kind;
    char text[CE_TEXT_SIZE]; // OpenSSL's words
} ce_trust_error;

typedef struct ce_trust ce_trust;

/// Compiles a policy. NULL and `error` filled when something in it cannot be used. The result has one reference.
ce_trust *_Nullable ce_trust_create(const ce_trust_config *_Nonnull config, ce_trust_error *_Nonnull error);
void ce_trust_release(ce_trust *_Nullable trust);

typedef enum ce_verdict {
    CE_VERDICT_NONE = 0,
    CE_VERDICT_TRUSTED,
    CE_VERDICT_CHAIN,
    CE_VERDICT_HOST,
    CE_VERDICT_PINS,
    CE_VERDICT_PEER,
    CE_VERDICT_OTHER_TRUST,
    CE_VERDICT_TLS_TOO_OLD,
    CE_VERDICT_EVIDENCE,
    CE_VERDICT_EXPIRED,
    CE_VERDICT_PLAINTEXT,
    CE_VERDICT_REVOKED,
    CE_VERDICT_STAPLE,
    CE_VERDICT_RULE_EXPIRED,
    CE_VERDICT_ANCHORS, // the system's bundle could not be read
    CE_VERDICT_INTERNAL,
} ce_verdict;

typedef struct ce_digests {
    uint8_t certificate[CE_DIGEST_SIZE]; // SHA-256 of the DER certificate
    uint8_t public_key[CE_DIGEST_SIZE];  // SHA-256 of the DER SubjectPublicKeyInfo
} ce_digests;

typedef struct ce_chain_entry {
    ce_digests digests;
    int64_t not_before; // seconds since 1970
    int64_t not_after;
    char subject[CE_TEXT_SIZE];
} ce_chain_entry;

typedef struct ce_report {
    ce_verdict verdict;
    int x509_error;
    int depth;
    char text[CE_TEXT_SIZE];
    bool missed_pins; // of a rule that only reports
    unsigned chain_count;
    ce_chain_entry chain[CE_CHAIN_MAXIMUM]; // the verified path; of a chain that was not accepted, what there was
} ce_report;

/// Reads every certificate of a PEM text. Returns how many were read (at most CE_CHAIN_MAXIMUM), or -1 and `error`.
int ce_inspect_pem(
    const char *_Nonnull pem, size_t size, ce_report *_Nonnull report, ce_trust_error *_Nonnull error);

typedef enum ce_probe_result {
    CE_PROBE_OK = 0,
    CE_PROBE_CONNECT,
    CE_PROBE_TIMEOUT,
    CE_PROBE_TLS,
    CE_PROBE_MEMORY,
} ce_probe_result;

/// Connects a TLS client on the calling thread, reads the presented chain, sends no application data and hangs up.
/// `report->verdict` says whether `trust` accepts the chain for `host`; an unaccepted chain is reported all the same.
ce_probe_result ce_probe(
    const char *_Nonnull host, const char *_Nonnull address, uint16_t port, ce_trust *_Nonnull trust, size_t rule,
    int timeout_ms, ce_report *_Nonnull report);

/// Judges a DER chain, leaf first, as the handshake gate would. False when it is refused; `report` says why.
bool ce_trust_evaluate(
    ce_trust *_Nonnull trust, size_t rule, const char *_Nonnull host, bool host_is_address,
    const uint8_t *_Nonnull const *_Nonnull certificates, const size_t *_Nonnull sizes, size_t count,
    ce_report *_Nonnull report);
typedef enum ce_install_result {
    CE_INSTALL_DONE,
    /// The context has the gate already, for another policy, rule or host.
    CE_INSTALL_TAKEN,
    /// OpenSSL refused, or there was no memory.
    CE_INSTALL_FAILED,
} ce_install_result;

/// Installs the handshake gate on an `SSL_CTX` that the caller made, for one host. The caller's SSL sets the host as its
/// server name, unless it is an address. A context that has the gate for another policy, rule or host is left as it is; for
/// the same ones, the report of its last handshake is cleared.
ce_install_result ce_trust_install(
    ce_trust *_Nonnull trust, size_t rule, const char *_Nonnull host, bool host_is_address, void *_Nonnull ssl_context);
/// What the gate found that was installed on an `SSL_CTX`; NULL when none was.
const ce_report *_Nullable ce_trust_installed_report(void *_Nonnull ssl_context);
/// Judges an `SSL` whose handshake is done, resumed ones included, as the request gate would.
bool ce_trust_judge(
    ce_trust *_Nonnull trust, size_t rule, const char *_Nonnull host, void *_Nonnull ssl, ce_report *_Nonnull report);

// MARK: Loop

typedef struct ce_loop ce_loop;
typedef struct ce_multi ce_multi;
typedef struct ce_transfer ce_transfer;

/// An eventfd that wakes a loop, or -1 with errno set. The caller closes it.
int ce_wakeup_create(void);
/// Wakes the loop. Any thread.
void ce_wakeup_signal(int wakeup_fd);
/// Waits until an eventfd that is in no epoll set was signalled, at most so long or until a signal interrupts it, and takes
/// what came: how often it was signalled, 0 for not at all. One thread.
int ce_wakeup_await(int wakeup_fd, int maximum_ms);
/// How many processors the process's first thread may run on, which can be fewer than there are.
int ce_processor_count(void);
/// Gives the calling thread a name for debuggers.
void ce_name_thread(const char *_Nonnull name);

/// What holds for every transfer of a loop.
typedef struct ce_settings {
    const char *_Nullable resolve; // "HOST:PORT:ADDRESS" texts, each with a terminating NUL, then an empty one
    const char *_Nullable unix_socket; // path, or a name in the abstract namespace
    bool unix_socket_is_abstract;
    const char *_Nullable interface; // as CURLOPT_INTERFACE reads it
    long name_lifetime_s;            // how long an address is remembered; -1 for ever
    long happy_eyeballs_ms;          // head start of IPv6
    long idle_lifetime_s;            // a connection that was idle for longer is not used again
    long connection_lifetime_s;      // nor one that is older than this; 0 for none
    long keep_alive_s;               // idle time before the system probes the peer; 0 for never
    long connection_cache;           // idle connections that are kept
    long streams_per_connection;     // HTTP/2
} ce_settings;

/// Makes an epoll loop that also wakes for `wakeup_fd` (borrowed). `settings` are copied. NULL with errno set when that
/// fails.
ce_loop *_Nullable ce_loop_create(int wakeup_fd, const ce_settings *_Nonnull settings);
/// Every multi must have been destroyed before.
void ce_loop_destroy(ce_loop *_Nullable loop);
/// Runs the timers that are due.
void ce_loop_run_due(ce_loop *_Nonnull loop);
/// Waits at most `maximum_ms` (-1: until something happens) and serves what became ready. Returns -1 with errno set when
/// epoll itself fails.
int ce_loop_wait(ce_loop *_Nonnull loop, int maximum_ms);
/// Monotonic milliseconds at the last wait, or the last look at the timers.
int64_t ce_loop_now_ms(const ce_loop *_Nonnull loop);
/// How often a socket that was writable was not listened to for a moment, because nothing was written.
size_t ce_loop_mutes(const ce_loop *_Nonnull loop);
int64_t ce_now_ms(void);

/// One libcurl multi handle. `trust` is retained, and so is `proxy_trust`, by which proxies are judged that are themselves
/// spoken to over TLS. TLS sessions are shared with `sibling`, which has the same trust; NULL
/// for none.
ce_multi *_Nullable ce_multi_create(ce_loop *_Nonnull loop, ce_trust *_Nonnull trust, ce_trust *_Nullable proxy_trust, ce_multi *_Nullable sibling);
void ce_multi_destroy(ce_multi *_Nullable multi);

/// The next finished transfer, already removed from its multi, or NULL. Call until NULL after every wait.
ce_transfer *_Nullable ce_multi_next_done(ce_multi *_Nonnull multi, int *_Nonnull curl_code);

/// The next streaming transfer whose head, chunk or upload wants attention, or NULL.
ce_transfer *_Nullable ce_loop_next_touched(ce_loop *_Nonnull loop);

// MARK: Transfers

/// Of a streamed body: the size of a chunk, how many may wait in a transfer, and the memory of how many is kept.
enum { CE_CHUNK_SIZE = 128 * 1024, CE_CHUNKS_MAXIMUM = 16, CE_CHUNKS_KEPT = 32 };
/// What a compressed body may unpack to whatever its size, and how much memory is had ready for an announced length.
enum { CE_EXPANSION_FLOOR = 16 << 20, CE_TRUSTED_LENGTH = 16 << 20 };
/// How many bytes of a compressed body may come in while nothing comes out of its decoder.
enum { CE_DECODER_INPUT_MAXIMUM = 1 << 20 };

typedef struct ce_bytes {
    char *_Nullable data; // malloc'ed
    size_t count;
    size_t capacity;
} ce_bytes;

typedef enum ce_http_version { CE_HTTP_ANY = 0, CE_HTTP_1_1 = 1, CE_HTTP_2 = 2 } ce_http_version;

typedef enum ce_body_kind { CE_BODY_NONE = 0, CE_BODY_BYTES = 1, CE_BODY_STREAM = 2, CE_BODY_LENT = 3 } ce_body_kind;

/// What a streamed body had.
typedef struct ce_supply {
    size_t count;     // bytes that were moved
    size_t available; // those, and what is left of the piece that the last of them came from
    bool ended;       // nothing will follow what is available
} ce_supply;

/// Everything that varies from request to request. Pointers are borrowed for the call only; those
/// not marked nullable must be set.
typedef struct ce_request {
    const char *_Null_unspecified origin; // "https://host:port", normalised; no path
    const char *_Null_unspecified host;   // normalised, an IPv6 literal without brackets
    bool host_is_address;
    bool secure;
    const char *_Null_unspecified target; // exactly what goes on the request line
    const char *_Null_unspecified method;
    bool idempotent;             // may be sent once more when a reused connection turns out dead
    const char *_Null_unspecified headers; // lines "Name: value", each with a terminating NUL, then an empty one
    size_t headers_size;
    int body_kind; // ce_body_kind
    const void *_Nullable body; // CE_BODY_BYTES: copied
    size_t body_size;
    int64_t body_length; // CE_BODY_STREAM and CE_BODY_LENT: bytes, or -1 for chunked
    /// CE_BODY_LENT: copies a part of the body into `buffer`. Called on the loop's thread with the transfer's owner.
    void (*_Nullable read_body)(void *_Null_unspecified owner, int64_t offset, void *_Nonnull buffer, size_t size);
    /// CE_BODY_STREAM: moves the next bytes into `buffer`. Called on the loop's thread with the transfer's owner. After it
    /// had none and was not at the end, it is called again when `ce_transfer_resume_upload` was.
    ce_supply (*_Nullable take_body)(void *_Null_unspecified owner, void *_Nonnull buffer, size_t size);
    long connect_timeout_ms;
    long continue_wait_ms;   // how long a body waits for the 100 that `headers` ask for
    long minimum_rate;       // bytes a second, averaged over `minimum_rate_s`; 0 for none
    long minimum_rate_s;
    unsigned expansion_limit; // how many times its size a compressed body may unpack to; 0 for any
    const char *_Nullable proxy; // URL without credentials; NULL for none
    const char *_Nullable proxy_user;
    const char *_Nullable proxy_password;
    size_t head_limit;      // bytes
    size_t head_line_limit; // lines, informational heads and trailers included
    size_t body_limit;
    int http_version; // ce_http_version
    bool wait_for_multiplexing;
    bool decompress;
    bool streaming;
    bool streams_redirects;  // a redirect's body is streamed even if bodies are collected: its reader may not want it
    bool streams_challenges; // the same for the body of a 401
    bool fresh_connection;
    bool full_handshake; // no TLS session is resumed
    size_t rule;       // of the trust, for the host
    size_t proxy_rule; // of the proxies' trust, for `proxy_host`
    const char *_Nullable proxy_host; // where the proxy is itself spoken to over TLS
    bool proxy_is_address;
} ce_request;

typedef enum ce_refusal {
    CE_REFUSED_NOT = 0,
    CE_REFUSED_BODY_LIMIT,
    CE_REFUSED_HEAD_LIMIT,
    CE_REFUSED_MEMORY,
    CE_REFUSED_RESEND,
    CE_REFUSED_NOT_HTTP2,
    CE_REFUSED_TRUST,
    CE_REFUSED_UPLOAD,        // the source failed
    CE_REFUSED_UPLOAD_LENGTH, // the source gave more or less than its length
    CE_REFUSED_PROTOCOL,      // a status that HTTP does not know, or that was not asked for
    CE_REFUSED_FRAMING,       // lengths or codings that contradict each other
    CE_REFUSED_STALE,         // a kept connection that holds what nobody asked for, or a handle that may not serve it
    CE_REFUSED_EXPANSION,     // a compressed body unpacks to more than its size allows
    CE_REFUSED_LINE,          // a line of the head that is neither a field nor the head's end
    CE_REFUSED_HEAD_LINES,    // more lines than a head may have
    CE_REFUSED_STATUS_LINE,   // the first line of a head is no status line
    CE_REFUSED_CODINGS,       // several content codings, one inside the other
    CE_REFUSED_CODING,        // zstd for a stream, which was not asked for
    CE_REFUSED_DECODER,       // a compressed body that yields nothing
    CE_REFUSED_UNJUDGED,      // an answer over https to a request that the request gate never let pass
} ce_refusal;

typedef struct ce_timings {
    // Since the start; 0: not reached. The request begins at `began_us`; its last byte is known only of lent and
    // streamed bodies.
    int64_t resolved_us, connected_us, secured_us, began_us, sent_us, first_byte_us, total_us;
    int64_t body_bytes_received, body_bytes_sent;
    long http_version; // 10, 11, 20
    bool reused;
    char peer_address[48]; // as long as what it is copied to, UnreadConnection's
    long peer_port;
} ce_timings;

/// An easy handle with its URL handle and buffers; reused from request to request.
ce_transfer *_Nullable ce_transfer_create(void);
void ce_transfer_destroy(ce_transfer *_Nullable transfer);

/// Frees what the last request left in a transfer that waits for its next one: bodies above all. False when it cannot be
/// used again and is to be destroyed.
bool ce_transfer_rest(ce_transfer *_Nonnull transfer);

/// Sets every option of one request. NULL when all were accepted, else the name of the option that libcurl refused, with
/// its code in `curl_code`.
const char *_Nullable ce_transfer_prepare(
    ce_transfer *_Nonnull transfer, ce_multi *_Nonnull multi, const ce_request *_Nonnull request,
    int *_Nonnull curl_code);
/// Hands the transfer to its multi. Returns the CURLMcode.
int ce_transfer_start(ce_transfer *_Nonnull transfer);
/// Takes a running transfer off its multi. Never blocks on a name that is being resolved.
void ce_transfer_abort(ce_transfer *_Nonnull transfer);

void ce_transfer_set_owner(ce_transfer *_Nonnull transfer, void *_Nullable owner);
void *_Nullable ce_transfer_owner(const ce_transfer *_Nonnull transfer);

int ce_transfer_status(const ce_transfer *_Nonnull transfer); // 0 until a final head has come
bool ce_transfer_has_first_byte(const ce_transfer *_Nonnull transfer);
bool ce_transfer_has_head(const ce_transfer *_Nonnull transfer);
/// Whether the body is delivered as a stream: it was asked for as one, or the status has made it one.
bool ce_transfer_streams(const ce_transfer *_Nonnull transfer);
/// Moves the trailer fields out; the caller frees `data`.
ce_bytes ce_transfer_take_trailers(ce_transfer *_Nonnull transfer);

/// Whether bytes of a response came, even less than a line; or one of its request's body went.
bool ce_transfer_may_have_bytes(const ce_transfer *_Nonnull transfer);
ce_refusal ce_transfer_refusal(const ce_transfer *_Nonnull transfer);
/// Whether a socket could not be opened for lack of a descriptor or memory.
bool ce_transfer_lacked_resources(const ce_transfer *_Nonnull transfer);
/// What the gates found; NULL when neither ran. Valid until the transfer is prepared anew or destroyed.
const ce_report *_Nullable ce_transfer_report(const ce_transfer *_Nonnull transfer);
/// Whether that report is about the proxy rather than the host.
bool ce_transfer_report_is_of_proxy(const ce_transfer *_Nonnull transfer);
/// The chain that lacked the pins of a rule which only reports; NULL when it lacked none.
const ce_report *_Nullable ce_transfer_missed_pins(const ce_transfer *_Nonnull transfer);
const char *_Nonnull ce_transfer_error_text(const ce_transfer *_Nonnull transfer);
const char *_Nonnull ce_curl_text(int curl_code);
/// 10, 11 or 20.
long ce_transfer_http_version(const ce_transfer *_Nonnull transfer);
ce_timings ce_transfer_timings(const ce_transfer *_Nonnull transfer);
/// Monotonic milliseconds when bytes were last seen to move. Asks libcurl how much was sent and received since the last
/// call, because a body that is sent from memory calls nobody.
int64_t ce_transfer_last_activity_ms(ce_transfer *_Nonnull transfer);
bool ce_transfer_receiving_is_paused(const ce_transfer *_Nonnull transfer);
unsigned ce_transfer_send_count(const ce_transfer *_Nonnull transfer);
/// Whether a body that ends with its TLS connection ended without the peer's word that it does.
bool ce_transfer_was_cut(const ce_transfer *_Nonnull transfer);
/// Whether the connection had been opened for an earlier request; the transfer need not have sent anything.
bool ce_transfer_on_kept_connection(const ce_transfer *_Nonnull transfer);

// MARK: Answers

/// How many answers wait to be used again, and how large a buffer they keep.
enum { CE_ANSWERS_KEPT = 256, CE_ANSWER_BUFFER_KEPT = 4096 };

/// What a transfer received: one thread's at a time. Of a stream, what came before its body.
typedef struct ce_answer {
    int status;
    ce_bytes head;
    ce_bytes body; // whoever takes `data` over sets it to NULL, and both counts to 0
    ce_bytes trailers;
    ce_bytes informational; // the heads of informational responses, one after the other
    ce_timings timings;
    unsigned send_count;
    unsigned earlier_sendings; // before the transfer's; its user's to set, as is the next
    int64_t queued_ms;
    char tls_version[16]; // of the connection that carried it; empty without TLS, as is the next
    char cipher[64];
    struct ce_answer *_Nullable next;
} ce_answer;

typedef struct ce_answer_pool ce_answer_pool;

ce_answer_pool *_Nullable ce_answer_pool_create(void);
/// When nobody will give an answer back any more.
void ce_answer_pool_destroy(ce_answer_pool *_Nullable pool);
/// Moves what was received out of a transfer, whose head has come. NULL without memory. Engine thread.
ce_answer *_Nullable ce_transfer_take_answer(ce_transfer *_Nonnull transfer, ce_answer_pool *_Nonnull pool);
/// Gives an answer back that was read. Any thread.
void ce_answer_give(ce_answer_pool *_Nonnull pool, ce_answer *_Nonnull answer);
void ce_answer_destroy(ce_answer *_Nullable answer);

// MARK: Streaming

/// A full chunk, or with `partial` also one that is still being filled. `data` NULL when there is none. The caller gives
/// it back with `ce_chunk_give`, from any thread.
ce_bytes ce_transfer_take_chunk(ce_transfer *_Nonnull transfer, bool partial);
void ce_chunk_give(char *_Nullable data);
/// Stops and restarts reading from the peer. Resuming may call the write callback at once. Returns the CURLcode.
int ce_transfer_pause_receiving(ce_transfer *_Nonnull transfer, bool paused);
/// Has the rest of the body read and dropped, so that its connection can be used again. False when that would be more
/// than `maximum` bytes, or is not worth it: end the transfer then. A rest that turns out longer ends it too.
bool ce_transfer_drain(ce_transfer *_Nonnull transfer, size_t maximum);
/// Whether nothing is left to send until the next piece comes.
bool ce_transfer_sending_is_paused(const ce_transfer *_Nonnull transfer);
/// Lets libcurl look at a paused upload once more, where its response asks for that: call it for each touched transfer.
/// Returns the CURLcode.
int ce_transfer_ask_again(ce_transfer *_Nonnull transfer);
/// Has a streamed body's next bytes taken, after there were none. Returns the CURLcode.
int ce_transfer_resume_upload(ce_transfer *_Nonnull transfer);
/// Ends a streamed request body with a failure: the transfer aborts.
int ce_transfer_fail_upload(ce_transfer *_Nonnull transfer);

#endif
