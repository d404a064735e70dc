// The first gate of a trust policy: it runs inside the handshake, as OpenSSL's certificate verification, so that a wrong
// server gets no client certificate and no byte of a request. It leaves evidence on the session for the second one, in
// ce_request_gate.c.
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t indexes_once = PTHREAD_ONCE_INIT;
static int evidence_index = -1;   // in SSL_SESSION
static int connection_index = -1; // in SSL_CTX

// MARK: Evidence

static void evidence_release(ce_evidence *evidence) {
    if (evidence && atomic_fetch_sub_explicit(&evidence->references, 1, memory_order_acq_rel) == 1) free(evidence);
}

static void evidence_free(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
    (void)parent, (void)data, (void)index, (void)argument, (void)pointer;
    evidence_release(value);
}

// OpenSSL copies a session when a ticket arrives; the copy shares the evidence.
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

static bool attach_evidence(SSL *ssl, const ce_connection *connection) {
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

ce_connection *ce_connection_of(const SSL *ssl) {
    return connection_index >= 0 ? SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), connection_index) : NULL;
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

static ce_peer peer_of(const ce_connection *connection) {
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

// MARK: Gate 1

static int refuse(X509_STORE_CTX *context, ce_report *report, ce_verdict verdict, int x509_error, const char *text) {
    report->verdict = verdict;
    report->x509_error = x509_error;
    ce_copy_text(report->text, CE_TEXT_SIZE, text);
    X509_STORE_CTX_set_error(context, x509_error);
    return 0;
}

static bool is_host_error(int error) {
    return error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

static void record_chain(STACK_OF(X509) *chain, ce_report *report) {
    int count = sk_X509_num(chain);
    report->chain_count = 0;
    for (int i = 0; i < count && i < CE_CHAIN_MAXIMUM; i++) {
        if (!ce_entry_measure(&report->chain[i], sk_X509_value(chain, i))) return;
        report->chain_count++;
    }
}

// Apart, because names are only read by people, and writing them takes longer than all the rest of the judgement.
static void record_names(STACK_OF(X509) *chain, ce_report *report) {
    for (unsigned i = 0; i < report->chain_count; i++) ce_entry_name(&report->chain[i], sk_X509_value(chain, (int)i));
}

static bool expect_host(X509_STORE_CTX *context, const char *host, bool host_is_address) {
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);
    // Of what the connection's context asks for nothing is left but what the policy's store does: it may be an
    // application's, and have the clock or the purpose passed over.
    unsigned long flags = X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(X509_STORE_CTX_get0_store(context)));
    X509_VERIFY_PARAM_clear_flags(param, ~0ul);
    X509_VERIFY_PARAM_set_flags(param, flags | X509_V_FLAG_TRUSTED_FIRST);
    if (X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER) != 1) return false;
    if (X509_VERIFY_PARAM_set_trust(param, X509_TRUST_SSL_SERVER) != 1) return false;
    if (X509_VERIFY_PARAM_get_auth_level(param) < CE_SECURITY_LEVEL) {
        X509_VERIFY_PARAM_set_auth_level(param, CE_SECURITY_LEVEL);
    }
    X509_VERIFY_PARAM_set_hostflags(
        param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (host_is_address) return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    return X509_VERIFY_PARAM_set1_host(param, host, 0) == 1;
}

// The judgement, and the path that it is about.
static int verify(X509_STORE_CTX *context, const ce_peer *peer, ce_report *report, STACK_OF(X509) **path) {
    if (!expect_host(context, peer->host, peer->host_is_address)) {
        return refuse(context, report, CE_VERDICT_INTERNAL, X509_V_ERR_UNSPECIFIED, "the host name could not be set");
    }
    bool valid = X509_verify_cert(context) == 1;
    int error = X509_STORE_CTX_get_error(context);
    // The verified path where there is one: what a server merely presents proves nothing.
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
    *path = chain ? chain : X509_STORE_CTX_get0_untrusted(context);
    record_chain(*path, report);
    if (!valid || error != X509_V_OK) {
        report->depth = X509_STORE_CTX_get_error_depth(context);
        if (error == X509_V_OK) error = X509_V_ERR_UNSPECIFIED;
        ce_verdict verdict = is_host_error(error)               ? CE_VERDICT_HOST
                             : error == X509_V_ERR_CERT_REVOKED ? CE_VERDICT_REVOKED
                                                                : CE_VERDICT_CHAIN;
        return refuse(context, report, verdict, error, X509_verify_cert_error_string(error));
    }
    if (report->chain_count != (unsigned)sk_X509_num(chain)) {
        return refuse(context, report, CE_VERDICT_CHAIN, X509_V_ERR_CERT_CHAIN_TOO_LONG, "the chain is too long");
    }
    ce_digests digests[CE_CHAIN_MAXIMUM];
    for (unsigned i = 0; i < report->chain_count; i++) digests[i] = report->chain[i].digests;
    ce_pin_outcome outcome = ce_pins_judge(peer->trust, peer->rule, digests, report->chain_count);
    if (outcome == CE_PINS_MISSED) {
        return refuse(context, report, CE_VERDICT_PINS, X509_V_ERR_APPLICATION_VERIFICATION, CE_NO_PIN_MATCHES);
    }
    if (outcome == CE_PINS_EXPIRED) {
        return refuse(context, report, CE_VERDICT_RULE_EXPIRED, X509_V_ERR_APPLICATION_VERIFICATION, CE_PINS_HAVE_EXPIRED);
    }
    report->missed_pins = outcome == CE_PINS_REPORTED;
    report->verdict = CE_VERDICT_TRUSTED;
    return 1;
}

int ce_verify(X509_STORE_CTX *context, const ce_peer *peer, bool names_trusted, ce_report *report) {
    STACK_OF(X509) *path = NULL;
    report->chain_count = 0;
    int result = verify(context, peer, report, &path);
    if (path && (result != 1 || report->missed_pins || names_trusted)) record_names(path, report);
    return result;
}

static int handshake_gate(X509_STORE_CTX *context, void *user) {
    ce_connection *connection = user;
    ce_report *report = &connection->report;
    SSL *ssl = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
    const char *sni = ssl ? SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) : NULL;
    // libcurl runs this for whatever TLS peer the transfer needs. A peer that is not the one asked for is refused.
    bool expected = connection->host_is_address ? sni == NULL : sni && strcmp(sni, connection->host) == 0;
    if (!ssl || !expected) {
        return refuse(context, report, CE_VERDICT_PEER, X509_V_ERR_APPLICATION_VERIFICATION, sni ? sni : "");
    }
    ce_peer peer = peer_of(connection);
    // A stapled status that is not good will refuse a chain that is trusted here.
    if (!ce_verify(context, &peer, peer.trust->staple != CE_STAPLE_IGNORED, report)) return 0;
    if (!attach_evidence(ssl, connection)) {
        return refuse(context, report, CE_VERDICT_INTERNAL, X509_V_ERR_OUT_OF_MEM, "out of memory");
    }
    return 1;
}

// Runs when the server has shown all that it has, before the client shows anything. A resumed session was judged when it
// was made.
static int status_gate(SSL *ssl, void *user) {
    ce_connection *connection = user;
    return SSL_session_reused(ssl) || ce_staple_is_good(ssl, connection->trust, &connection->report);
}

static void note_alert(const SSL *ssl, int where, int value) {
    if (where != SSL_CB_READ_ALERT || (value & 0xff) != SSL_AD_CLOSE_NOTIFY) return;
    ce_connection *connection = ce_connection_of(ssl);
    if (connection) connection->was_closed = true;
}

static bool use_identity(SSL_CTX *ssl, const ce_trust *trust) {
    if (!trust->identity_certificate) return true;
    if (SSL_CTX_use_certificate(ssl, trust->identity_certificate) != 1) return false;
    if (SSL_CTX_set1_chain(ssl, trust->identity_chain) != 1) return false;
    return SSL_CTX_use_PrivateKey(ssl, trust->identity_key) == 1;
}

static ce_connection *installed_on(SSL_CTX *ssl) {
    pthread_once(&indexes_once, make_indexes);
    return connection_index < 0 ? NULL : SSL_CTX_get_ex_data(ssl, connection_index);
}

// Hangs `connection` on a context that has none. Takes over the caller's reference, also when it fails.
static bool attach_connection(SSL_CTX *ssl, ce_connection *connection) {
    pthread_once(&indexes_once, make_indexes);
    if (evidence_index >= 0 && connection_index >= 0 && SSL_CTX_set_ex_data(ssl, connection_index, connection) == 1) {
        return true;
    }
    ce_connection_release(connection);
    return false;
}

// `connection` is attached already, so that the context keeps alive what the callbacks are given.
static bool install(SSL_CTX *ssl, ce_connection *connection) {
    ce_trust *trust = connection->trust;
    // First, so that a context on which a later step fails judges as strictly as before or refuses.
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(ssl, handshake_gate, connection);
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
    if (trust->staple != CE_STAPLE_IGNORED) {
        SSL_CTX_set_tlsext_status_type(ssl, TLSEXT_STATUSTYPE_ocsp);
        SSL_CTX_set_tlsext_status_cb(ssl, status_gate);
        SSL_CTX_set_tlsext_status_arg(ssl, connection);
    }
    if (!ce_trust_load_anchors(trust, &connection->report)) return false;
    if (SSL_CTX_set1_verify_cert_store(ssl, trust->store) != 1) return false;
    if (SSL_CTX_set_min_proto_version(ssl, trust->minimum_tls) != 1) return false;
    return use_identity(ssl, trust);
}

CURLcode ce_install_handshake_gate(CURL *easy, void *ssl_context, void *user) {
    (void)easy;
    ce_transfer *transfer = user;
    ce_multi *multi = transfer->multi;
    // libcurl calls this for the proxy's TLS as well, without saying so. The proxy's handshake is the first one on such
    // a connection. No SSL option is used to tell it apart, because a configuration of OpenSSL could set it.
    bool is_proxy = transfer->proxy_is_secure && transfer->handshakes == 0;
    transfer->handshakes++;
    if (is_proxy && !multi->proxy_trust) return CURLE_SSL_CERTPROBLEM;
    ce_peer peer = {multi->trust, transfer->rule, transfer->host, transfer->host_is_address};
    if (is_proxy) {
        peer = (ce_peer){multi->proxy_trust, transfer->proxy_rule, transfer->proxy_host, transfer->proxy_is_address};
    }
    ce_connection *connection = ce_connection_create(&peer);
    if (!connection) return CURLE_OUT_OF_MEMORY;
    connection->is_proxy = is_proxy;
    ce_connection_retain(connection);
    ce_connection_release(transfer->connection);
    transfer->connection = connection;
    // libcurl makes a context for each connection, so none has a policy yet.
    if (!attach_connection(ssl_context, connection)) return CURLE_SSL_CERTPROBLEM;
    if (!install(ssl_context, connection)) return CURLE_SSL_CERTPROBLEM;
    SSL_CTX_set_info_callback(ssl_context, note_alert);
    return CURLE_OK;
}

static bool is_for(const ce_connection *connection, const ce_peer *peer) {
    return connection->trust == peer->trust && connection->rule == peer->rule &&
           connection->host_is_address == peer->host_is_address && strcmp(connection->host, peer->host) == 0;
}

ce_install_result ce_trust_install(
    ce_trust *trust, size_t rule, const char *host, bool host_is_address, void *ssl_context) {
    ce_peer peer = {trust, rule, host, host_is_address};
    ce_connection *connection = installed_on(ssl_context);
    if (connection) {
        // OpenSSL cannot take a certificate and its key off a context, and connections that were made from it keep what
        // they copied. A second policy would therefore show the first one's identity.
        if (!is_for(connection, &peer)) return CE_INSTALL_TAKEN;
        connection->report = (ce_report){.verdict = CE_VERDICT_NONE};
    } else {
        connection = ce_connection_create(&peer);
        if (!connection || !attach_connection(ssl_context, connection)) return CE_INSTALL_FAILED;
    }
    return install(ssl_context, connection) ? CE_INSTALL_DONE : CE_INSTALL_FAILED;
}

const ce_report *ce_trust_installed_report(void *ssl_context) {
    if (connection_index < 0) return NULL;
    ce_connection *connection = SSL_CTX_get_ex_data(ssl_context, connection_index);
    return connection ? &connection->report : NULL;
}

// MARK: Chains without a connection

static STACK_OF(X509) *read_chain(const uint8_t *const *certificates, const size_t *sizes, size_t count) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    for (size_t i = 0; chain && i < count; i++) {
        const unsigned char *der = certificates[i];
        X509 *certificate = sizes[i] <= INT32_MAX ? d2i_X509(NULL, &der, (long)sizes[i]) : NULL;
        // Bytes after the certificate are nothing that anybody signed.
        bool is_whole = certificate && der == certificates[i] + sizes[i];
        if (is_whole && sk_X509_push(chain, certificate)) continue;
        X509_free(certificate);
        sk_X509_pop_free(chain, X509_free);
        return NULL;
    }
    return chain;
}

bool ce_trust_evaluate(
    ce_trust *trust, size_t rule, const char *host, bool host_is_address, const uint8_t *const *certificates,
    const size_t *sizes, size_t count, ce_report *report) {
    ce_peer peer = {trust, rule, host, host_is_address};
    STACK_OF(X509) *chain = read_chain(certificates, sizes, count);
    X509_STORE_CTX *context = chain && count ? X509_STORE_CTX_new() : NULL;
    bool is_trusted = false;
    report->verdict = CE_VERDICT_INTERNAL;
    report->chain_count = 0;
    ce_copy_text(report->text, CE_TEXT_SIZE, "a certificate could not be read");
    if (context && ce_trust_load_anchors(trust, report) &&
        X509_STORE_CTX_init(context, trust->store, sk_X509_value(chain, 0), chain) == 1 &&
        X509_STORE_CTX_set_default(context, "ssl_server") == 1) {
        is_trusted = ce_verify(context, &peer, true, report) == 1;
    }
    X509_STORE_CTX_free(context);
    sk_X509_pop_free(chain, X509_free);
    return is_trusted;
}
