// TLS handshakes in memory, with client and server on one thread. They measure OpenSSL's own verification, and
// handshakes with a client context that the caller has modified.
#ifndef TRUST_FLOOR_H
#define TRUST_FLOOR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct trust_floor trust_floor;

/// Creates a server with a certificate and its key, and the anchor for its clients, all in PEM form. Returns NULL if
/// one of them is not valid. The caller destroys it.
trust_floor *trust_floor_create(const char *anchor, const char *certificate, const char *key);
void trust_floor_destroy(trust_floor *floor);
/// A client's SSL_CTX. With `verifies` it has the anchor and enforces the verification; otherwise it has OpenSSL's
/// defaults. The caller frees it with `trust_floor_free_client`.
void *trust_floor_client(trust_floor *floor, bool verifies);
void trust_floor_free_client(void *client);
/// Performs one full handshake with a host, without resumption. Returns the connected SSL of the client, or NULL on
/// failure. The caller frees it with `trust_floor_end`.
void *trust_floor_handshake(trust_floor *floor, void *client, const char *host, bool verifies);
void trust_floor_end(void *connection);
/// The processor time of the calling thread in nanoseconds.
long long trust_floor_now(void);

#endif
