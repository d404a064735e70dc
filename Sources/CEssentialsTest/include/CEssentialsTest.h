// The only header of the test kit's C target that Swift sees: certificates made in memory, and the two ends of a TLS
// connection over a blocking socket. Nothing here names an OpenSSL type.
//
// Threads: a `cet_context` may be shared by any number of threads once made. A `cet_tls` belongs to one thread at a
// time. Strings and bytes returned as plain pointers belong to the caller, who gives them to `free`.
#ifndef CESSENTIALSTEST_H
#define CESSENTIALSTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CET_TEXT_SIZE = 256, CET_PIN_SIZE = 64 };

/// What went wrong, in words. Empty when nothing did.
typedef struct cet_error {
    char text[CET_TEXT_SIZE];
} cet_error;

// MARK: Sockets

/// A descriptor that becomes readable, for good, when it is signalled. Close-on-exec. Negative on failure.
int cet_event_create(void);
void cet_event_signal(int event);

/// The next connection of a listening socket, close-on-exec. Negative when there is none.
int cet_accept(int listener);

/// Has a blocking read of a socket give up with EAGAIN after so long. False with errno set.
bool cet_socket_limit_reading(int socket, int seconds);

// MARK: Keys and certificates

/// A new private key as PEM: EC P-256 when `rsa_bits` is 0, else RSA. NULL and `error` filled on failure.
char *_Nullable cet_key_create(int rsa_bits, cet_error *_Nonnull error);

enum { CET_USAGE_SERVER = 1, CET_USAGE_CLIENT = 2, CET_USAGE_CODE_SIGNING = 4, CET_USAGE_OCSP_SIGNING = 8 };

/// The parts of a certificate that are numbers.
typedef struct cet_terms {
    int64_t not_before; // seconds from now
    int64_t not_after;  // seconds from now
    bool is_authority;
    int path_length; // negative for none
    int usages;      // CET_USAGE_...; 0 leaves the extension out
} cet_terms;

/// A new certificate as PEM. `names` is a list of "DNS:name" and "IP:address", one a line. Without an issuer the
/// certificate is signed with its own key. NULL and `error` filled on failure.
char *_Nullable cet_certificate_create(
    const cet_terms *_Nonnull terms, const char *_Nonnull common_name, const char *_Nonnull names,
    const char *_Nonnull key_pem, const char *_Nullable issuer_pem, const char *_Nullable issuer_key_pem,
    cet_error *_Nonnull error);

typedef enum cet_part { CET_PART_CERTIFICATE = 0, CET_PART_PUBLIC_KEY = 1 } cet_part;

/// The DER bytes of a certificate, or of its SubjectPublicKeyInfo. NULL on failure.
uint8_t *_Nullable cet_certificate_der(const char *_Nonnull pem, cet_part part, size_t *_Nonnull size);

/// Writes "sha256/" and the BASE64 digest of that part. `pin` has room for CET_PIN_SIZE bytes. False on failure.
bool cet_certificate_pin(const char *_Nonnull pem, cet_part part, char *_Nonnull pin);

// MARK: Contexts

typedef struct cet_context cet_context;

enum { CET_PEER_NOT_ASKED = 0, CET_PEER_ASKED = 1, CET_PEER_REQUIRED = 2 };
enum { CET_RESUME_TICKETS = 0, CET_RESUME_IDENTIFIERS = 1, CET_RESUME_NEVER = 2 };

typedef struct cet_options {
    int minimum_version; // 0x0301 is TLS 1.0, 0x0304 is TLS 1.3
    int maximum_version;
    int peer_certificate; // CET_PEER_..., server only
    int resumption;       // CET_RESUME_..., server only
} cet_options;

/// A server's context. `chain_pem` is the leaf and what else is presented, in that order and nothing more.
/// `protocols` are ALPN names, one a line; empty for none. NULL and `error` filled on failure.
cet_context *_Nullable cet_server_context_create(
    const cet_options *_Nonnull options, const char *_Nonnull chain_pem, const char *_Nonnull key_pem,
    const char *_Nullable anchors_pem, const char *_Nonnull protocols, cet_error *_Nonnull error);

/// A client's context, which trusts `anchors_pem` only and shows `chain_pem` where the server asks for a certificate.
/// NULL and `error` filled on failure.
cet_context *_Nullable cet_client_context_create(
    const cet_options *_Nonnull options, const char *_Nullable anchors_pem, const char *_Nullable chain_pem,
    const char *_Nullable key_pem, const char *_Nonnull protocols, cet_error *_Nonnull error);

/// Staples a copy of an OCSP response to the handshakes of a server's context, for clients that ask. To be called
/// before the context is used. False when out of memory.
bool cet_context_set_staple(cet_context *_Nonnull context, const uint8_t *_Nonnull staple, size_t size);

/// Connections made from the context keep what they need of it.
void cet_context_free(cet_context *_Nullable context);

// MARK: Connections

typedef struct cet_tls cet_tls;
typedef struct cet_session cet_session;

/// One end of a TLS connection over a socket, which stays the caller's. NULL when out of memory.
cet_tls *_Nullable cet_tls_create(cet_context *_Nonnull context, int socket);

/// Ends without a word to the peer; `cet_tls_finish` comes first where there is one to say.
void cet_tls_free(cet_tls *_Nullable tls);

/// The server's side of the handshake. Blocks.
bool cet_tls_accept(cet_tls *_Nonnull tls);

/// The client's side of the handshake, with SNI and host check for `host`, offering `session`. Blocks.
bool cet_tls_connect(cet_tls *_Nonnull tls, const char *_Nonnull host, cet_session *_Nullable session);

/// Bytes read; 0 at the peer's close_notify; negative when the connection ended in any other way. Blocks.
long cet_tls_read(cet_tls *_Nonnull tls, void *_Nonnull buffer, size_t size);

/// Writes all of it, or says false. Blocks. SIGPIPE must be blocked on the calling thread.
bool cet_tls_write(cet_tls *_Nonnull tls, const void *_Nonnull buffer, size_t size);

/// Decrypted bytes that can be read without touching the socket.
size_t cet_tls_pending(const cet_tls *_Nonnull tls);

/// Sends close_notify. Does not wait for the peer's.
void cet_tls_finish(cet_tls *_Nonnull tls);

/// What the handshake came to, also when it failed.
typedef struct cet_handshake {
    bool succeeded;
    bool resumed;
    char version[16];
    char server_name[CET_TEXT_SIZE]; // as the client wrote it in this handshake; empty for none
    char protocol[64];               // chosen by ALPN; empty for none
    char error[CET_TEXT_SIZE];
} cet_handshake;

cet_handshake cet_tls_handshake(const cet_tls *_Nonnull tls);

/// The peer's certificate as PEM, or NULL when it showed none.
char *_Nullable cet_tls_peer_certificate(const cet_tls *_Nonnull tls);

/// The session to resume later, or NULL. Under TLS 1.3 there is one only after something was read.
cet_session *_Nullable cet_tls_session(cet_tls *_Nonnull tls);
void cet_session_free(cet_session *_Nullable session);

// MARK: Handles

/// OpenSSL's `SSL_CTX *`, for code under test that takes one. Valid as long as the context.
void *_Nonnull cet_context_handle(cet_context *_Nonnull context);

/// OpenSSL's `SSL *`, for code under test that takes one. Valid as long as the connection.
void *_Nonnull cet_tls_handle(cet_tls *_Nonnull tls);

/// Has a context take any peer, any version from TLS 1.0 on, certificates out of their time and chains without a root.
bool cet_context_loosen(cet_context *_Nonnull context);
/// From now on, every copy of a session in this process loses what has been attached to it so far, and is not freed. That
/// is what a ticket makes under TLS 1.3.
bool cet_sessions_forget(void);

/// As a server under TLS 1.2, asks the client for a second handshake, and for its certificate if so said. Whether the
/// client went along. Blocks.
bool cet_tls_renegotiate(cet_tls *_Nonnull tls, bool asks_for_certificate);

// MARK: Processes

/// Has a program that is spawned with `actions`, a `posix_spawn_file_actions_t *`, keep only descriptors below `first`.
bool cet_spawn_keeping(void *_Nonnull actions, int first);

/// Keeps a thread, by its number, and those that it will start, to the first processor that it may use. True as well for
/// one that has ended.
bool cet_thread_pin(int thread);

#endif
