// The public header of the test kit's C target: creation of certificates and keys, and both ends of a TLS connection
// over a blocking socket. No OpenSSL type appears here.
//
// Threads: a `cet_context` may be shared by any number of threads after it was created. A `cet_tls` is used by one
// thread at a time. Strings and bytes returned as plain pointers belong to the caller, which releases them with `free`.
#ifndef CESSENTIALSTEST_H
#define CESSENTIALSTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CET_TEXT_SIZE = 256, CET_PIN_SIZE = 64 };

/// A description of what failed; empty on success.
typedef struct cet_error {
    char text[CET_TEXT_SIZE];
} cet_error;

// MARK: Sockets

/// A descriptor that becomes and stays readable when it is signalled. Close-on-exec. Negative on failure.
int cet_event_create(void);
void cet_event_signal(int event);

/// Accepts the next connection of a listening socket, close-on-exec. Negative if there is none.
int cet_accept(int listener);

/// Makes blocking reads of a socket fail with EAGAIN after this time. Returns false and sets errno on failure.
bool cet_socket_limit_reading(int socket, int seconds);

// MARK: Keys and certificates

/// Creates a private key in PEM form: EC P-256 if `rsa_bits` is 0, otherwise RSA. Returns NULL and
/// fills `error` on failure.
char *_Nullable cet_key_create(int rsa_bits, cet_error *_Nonnull error);

enum { CET_USAGE_SERVER = 1, CET_USAGE_CLIENT = 2, CET_USAGE_CODE_SIGNING = 4, CET_USAGE_OCSP_SIGNING = 8 };

/// The numeric parts of a certificate.
typedef struct cet_terms {
    int64_t not_before; // seconds from now
    int64_t not_after;  // seconds from now
    bool is_authority;
    int path_length; // negative means no limit
    int usages;      // CET_USAGE_... flags; 0 leaves the extension out
} cet_terms;

/// Creates a certificate in PEM form. `names` is a list of "DNS:name" and "IP:address", one on each line. Without an
/// issuer the certificate is signed with its own key. Returns NULL and fills `error` on failure.
char *_Nullable cet_certificate_create(
    const cet_terms *_Nonnull terms, const char *_Nonnull common_name, const char *_Nonnull names,
    const char *_Nonnull key_pem, const char *_Nullable issuer_pem, const char *_Nullable issuer_key_pem,
    cet_error *_Nonnull error);

typedef enum cet_part { CET_PART_CERTIFICATE = 0, CET_PART_PUBLIC_KEY = 1 } cet_part;

/// The DER bytes of a certificate or of its SubjectPublicKeyInfo. NULL on failure.
uint8_t *_Nullable cet_certificate_der(const char *_Nonnull pem, cet_part part, size_t *_Nonnull size);

/// Writes "sha256/" and the Base64 digest of that part. `pin` has room for CET_PIN_SIZE bytes.
/// Returns false on failure.
bool cet_certificate_pin(const char *_Nonnull pem, cet_part part, char *_Nonnull pin);

// MARK: Contexts

typedef struct cet_context cet_context;

enum { CET_PEER_NOT_ASKED = 0, CET_PEER_ASKED = 1, CET_PEER_REQUIRED = 2 };
enum { CET_RESUME_TICKETS = 0, CET_RESUME_IDENTIFIERS = 1, CET_RESUME_NEVER = 2 };

typedef struct cet_options {
    int minimum_version; // 0x0301 is TLS 1.0, 0x0304 is TLS 1.3
    int maximum_version;
    int peer_certificate; // CET_PEER_..., for servers
    int resumption;       // CET_RESUME_..., for servers
} cet_options;

/// Creates a server's context. `chain_pem` contains the leaf and the further certificates to present, in this order.
/// `protocols` are ALPN names, one on each line; empty for no ALPN. Returns NULL and fills `error` on failure.
cet_context *_Nullable cet_server_context_create(
    const cet_options *_Nonnull options, const char *_Nonnull chain_pem, const char *_Nonnull key_pem,
    const char *_Nullable anchors_pem, const char *_Nonnull protocols, cet_error *_Nonnull error);

/// Creates a client's context, which trusts only `anchors_pem` and presents `chain_pem` if the server requests a
/// certificate. Returns NULL and fills `error` on failure.
cet_context *_Nullable cet_client_context_create(
    const cet_options *_Nonnull options, const char *_Nullable anchors_pem, const char *_Nullable chain_pem,
    const char *_Nullable key_pem, const char *_Nonnull protocols, cet_error *_Nonnull error);

/// Staples a copy of an OCSP response to the handshakes of a server's context, for clients that request it. Call it
/// before the context is used. Returns false if out of memory.
bool cet_context_set_staple(cet_context *_Nonnull context, const uint8_t *_Nonnull staple, size_t size);

/// Frees the caller's reference. Connections created from the context keep what they need of it.
void cet_context_free(cet_context *_Nullable context);

// MARK: Connections

typedef struct cet_tls cet_tls;
typedef struct cet_session cet_session;

/// Creates one end of a TLS connection over a socket, which stays the caller's. NULL if out of memory.
cet_tls *_Nullable cet_tls_create(cet_context *_Nonnull context, int socket);

/// Frees the connection without notifying the peer; call `cet_tls_finish` first for an orderly close.
void cet_tls_free(cet_tls *_Nullable tls);

/// Performs the server's side of the handshake. Blocks.
bool cet_tls_accept(cet_tls *_Nonnull tls);

/// Performs the client's side of the handshake, with SNI and host check for `host`, offering `session`. Blocks.
bool cet_tls_connect(cet_tls *_Nonnull tls, const char *_Nonnull host, cet_session *_Nullable session);

/// Returns the number of bytes read, 0 at the peer's close_notify, or a negative value if the connection
/// ended otherwise. Blocks.
long cet_tls_read(cet_tls *_Nonnull tls, void *_Nonnull buffer, size_t size);

/// Writes all bytes, and returns whether that succeeded. Blocks. SIGPIPE must be blocked on the calling thread.
bool cet_tls_write(cet_tls *_Nonnull tls, const void *_Nonnull buffer, size_t size);

/// The number of decrypted bytes that can be read without reading from the socket.
size_t cet_tls_pending(const cet_tls *_Nonnull tls);

/// Sends close_notify without waiting for the peer's.
void cet_tls_finish(cet_tls *_Nonnull tls);

/// The result of a handshake, whether it succeeded or failed.
typedef struct cet_handshake {
    bool succeeded;
    bool resumed;
    char version[16];
    char server_name[CET_TEXT_SIZE]; // as sent by the client in this handshake; empty for none
    char protocol[64];               // selected by ALPN; empty for none
    char error[CET_TEXT_SIZE];
} cet_handshake;

cet_handshake cet_tls_handshake(const cet_tls *_Nonnull tls);

/// The peer's certificate in PEM form, or NULL if it presented none.
char *_Nullable cet_tls_peer_certificate(const cet_tls *_Nonnull tls);

/// The session for a later resumption, or NULL. With TLS 1.3 it is available only after the first read.
cet_session *_Nullable cet_tls_session(cet_tls *_Nonnull tls);
void cet_session_free(cet_session *_Nullable session);

// MARK: Handles

/// OpenSSL's `SSL_CTX *`, for code under test that needs one. Valid as long as the context.
void *_Nonnull cet_context_handle(cet_context *_Nonnull context);

/// OpenSSL's `SSL *`, for code under test that needs one. Valid as long as the connection.
void *_Nonnull cet_tls_handle(cet_tls *_Nonnull tls);

/// Makes a context accept any peer, TLS 1.0 and later, expired certificates, and chains without a root.
bool cet_context_loosen(cet_context *_Nonnull context);
/// From this call on, each copy of a session in this process starts without the data attached to the original, as a
/// session created from a TLS 1.3 ticket does. The data is not freed.
bool cet_sessions_forget(void);

/// Makes a TLS 1.2 server request a renegotiation, optionally with a client certificate. Returns whether the
/// client complied. Blocks.
bool cet_tls_renegotiate(cet_tls *_Nonnull tls, bool asks_for_certificate);

// MARK: Processes

/// Makes a program that is spawned with `actions`, a `posix_spawn_file_actions_t *`, keep only
/// descriptors below `first`.
bool cet_spawn_keeping(void *_Nonnull actions, int first);

/// Pins a thread, identified by its number, and the threads that it starts to the first processor that it may use.
/// Returns true also for a thread that has ended.
bool cet_thread_pin(int thread);

#endif
