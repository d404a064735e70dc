// Evidence of finished handshakes. It is attached to OpenSSL's objects, because these outlive a transfer.
#ifndef CE_EVIDENCE_H
#define CE_EVIDENCE_H

#include "trust.h"

#include <openssl/ssl.h>

// The evidence of a handshake. It is attached to the SSL_SESSION and follows it through tickets and resumption, so that
// a later request on a pooled or resumed connection can be judged by its own policy.
typedef struct ce_evidence {
    atomic_uint references;
    uint64_t trust_identity;
    char host[CE_HOST_SIZE];
    int64_t not_after; // earliest of the chain
    unsigned chain_count;
    ce_digests chain[CE_CHAIN_MAXIMUM];
} ce_evidence;

// The GOAWAY of an HTTP/2 connection (RFC 9113, 6.8).
typedef struct ce_goaway {
    bool has_come;
    uint32_t code;        // of the last GOAWAY
    uint32_t last_stream; // the last stream that the peer may have processed
} ce_goaway;

// The handshake gate's facts about one connection. Their owners are the SSL_CTX that libcurl creates for the connection
// and the transfer that caused it. The facts refer to neither of them, because the SSL_CTX outlives the transfer.
typedef struct ce_connection {
    atomic_uint references;
    ce_trust *trust;
    size_t rule; // index in the trust's rules
    char host[CE_HOST_SIZE];
    bool host_is_address;
    bool is_proxy;   // the peer is the proxy
    bool records_names; // records the names of a trusted chain, too
    bool was_closed; // the peer has sent close_notify
    bool lacks_identity; // the peer has requested a client certificate, and there was none
    bool has_responded;  // a response has begun on it
    uint32_t last_stream; // the number of its last HTTP/2 stream that was certainly opened; 0 for none
    ce_goaway goaway;
    unsigned carried; // transfers whose requests it carries
    ce_report report;
} ce_connection;

ce_connection *ce_connection_create(const ce_peer *peer);
void ce_connection_retain(ce_connection *connection);
void ce_connection_release(ce_connection *connection);
ce_peer ce_connection_peer(const ce_connection *connection);

// Attaches `connection` to a context without one. Takes ownership of the caller's reference, even if it fails.
bool ce_connection_attach(SSL_CTX *ssl, ce_connection *connection);
// The connection that is attached to a context, or NULL.
ce_connection *ce_connection_installed_on(SSL_CTX *ssl);
// The same for a TLS connection: NULL if it was not made through the handshake gate.
ce_connection *ce_connection_of(const SSL *ssl);

// Attaches evidence to the session of a handshake that was just verified. False without memory.
bool ce_evidence_attach(SSL *ssl, const ce_connection *connection);
// The evidence of a session, or NULL.
const ce_evidence *ce_evidence_of(const SSL *ssl);

#endif
