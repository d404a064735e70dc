// TLS handshakes in memory, client and server on one thread: what OpenSSL's own verification costs in them, and what one
// costs whose client context somebody else has changed.
#ifndef TRUST_FLOOR_H
#define TRUST_FLOOR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct trust_floor trust_floor;

/// A server with a certificate and its key, and the anchor that its clients have. All are PEM. NULL when one of them cannot
/// be read. The caller destroys it.
trust_floor *trust_floor_create(const char *anchor, const char *certificate, const char *key);
void trust_floor_destroy(trust_floor *floor);
/// A client's SSL_CTX. With `verifies` it has the anchor and minds the verification; else it is as OpenSSL makes it.
/// The caller frees it by `trust_floor_free_client`.
void *trust_floor_client(trust_floor *floor, bool verifies);
void trust_floor_free_client(void *client);
/// One full handshake with a host, no session resumed. The client's SSL, connected; NULL when it failed. The caller frees it
/// by `trust_floor_end`.
void *trust_floor_handshake(trust_floor *floor, void *client, const char *host, bool verifies);
void trust_floor_end(void *connection);
/// Processor time of the calling thread in nanoseconds.
long long trust_floor_now(void);

#endif
