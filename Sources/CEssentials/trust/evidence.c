#include "evidence.h"

#include "../base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t indexes_once = PTHREAD_ONCE_INIT;
static int evidence_index = -1;   // in SSL_SESSION
static int connection_index = -1; // in SSL_CTX

static void evidence_release(ce_evidence *evidence) {
    if (evidence && atomic_fetch_sub_explicit(&evidence->references, 1, memory_order_acq_rel) == 1) free(evidence);
}

static void evidence_free(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
    (void)parent, (void)data, (void)index, (void)argument, (void)pointer;
    evidence_release(value);
}

// OpenSSL copies a session when a ticket arrives. The copy shares the evidence.
static int evidence_duplicate(
    CRYPTO_EX_DATA *to, const CRYPTO_EX_DATA *from, void **value, int index, long argument, void *pointer) {
    (void)to, (void)from, (void)index, (void)argument, (void)pointer;
    ce_evidence *evidence = *value;
    if (evidence) atomic_fetch_add_explicit(&evidence->references, 1, memory_order_relaxed);
    return 1;
}

static void connection_free(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
    (void)parent, (void)data, (void)index, (void)argument, (void)pointer;
    ce_connection_release(value);
}

static void make_indexes(void) {
    evidence_index = SSL_SESSION_get_ex_new_index(0, NULL, NULL, evidence_duplicate, evidence_free);
    connection_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, connection_free);
}

// MARK: Connections

ce_connection *ce_connection_create(const ce_peer *peer) {
    ce_connection *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    atomic_init(&connection->references, 1);
    ce_trust_retain(peer->trust);
    connection->trust = peer->trust;
    connection->rule = peer->rule;
    ce_copy_text(connection->host, CE_HOST_SIZE, peer->host);
    connection->host_is_address = peer->host_is_address;
    return connection;
}

ce_peer ce_connection_peer(const ce_connection *connection) {
    return (ce_peer){connection->trust, connection->rule, connection->host, connection->host_is_address};
}

void ce_connection_retain(ce_connection *connection) {
    atomic_fetch_add_explicit(&connection->references, 1, memory_order_relaxed);
}

void ce_connection_release(ce_connection *connection) {
    if (!connection || atomic_fetch_sub_explicit(&connection->references, 1, memory_order_acq_rel) != 1) return;
    ce_trust_release(connection->trust);
    free(connection);
}

bool ce_connection_attach(SSL_CTX *ssl, ce_connection *connection) {
    pthread_once(&indexes_once, make_indexes);
    if (evidence_index >= 0 && connection_index >= 0 && SSL_CTX_set_ex_data(ssl, connection_index, connection) == 1) {
        return true;
    }
    ce_connection_release(connection);
    return false;
}

ce_connection *ce_connection_installed_on(SSL_CTX *ssl) {
    pthread_once(&indexes_once, make_indexes);
    return connection_index < 0 ? NULL : SSL_CTX_get_ex_data(ssl, connection_index);
}

ce_connection *ce_connection_of(const SSL *ssl) {
    return connection_index >= 0 ? SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), connection_index) : NULL;
}

// MARK: Evidence

bool ce_evidence_attach(SSL *ssl, const ce_connection *connection) {
    SSL_SESSION *session = SSL_get_session(ssl);
    ce_evidence *evidence = session ? calloc(1, sizeof *evidence) : NULL;
    if (!evidence) return false;
    atomic_init(&evidence->references, 1);
    evidence->trust_identity = connection->trust->identity;
    memcpy(evidence->host, connection->host, CE_HOST_SIZE);
    evidence->not_after = INT64_MAX;
    evidence->chain_count = connection->report.chain_count;
    for (unsigned i = 0; i < evidence->chain_count; i++) {
        const ce_chain_entry *entry = &connection->report.chain[i];
        evidence->chain[i] = entry->digests;
        if (entry->not_after < evidence->not_after) evidence->not_after = entry->not_after;
    }
    ce_evidence *previous = SSL_SESSION_get_ex_data(session, evidence_index);
    if (SSL_SESSION_set_ex_data(session, evidence_index, evidence) != 1) {
        evidence_release(evidence);
        return false;
    }
    evidence_release(previous);
    return true;
}

const ce_evidence *ce_evidence_of(const SSL *ssl) {
    SSL_SESSION *session = SSL_get_session(ssl);
    return session && evidence_index >= 0 ? SSL_SESSION_get_ex_data(session, evidence_index) : NULL;
}
