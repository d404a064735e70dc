// The two gates of a trust policy.
//
// Gate 1 runs inside the handshake, as OpenSSL's certificate verification: a wrong server gets no client certificate and
// no byte of a request. Gate 2 runs before a request's first byte: pooled connections, resumed sessions and further
// HTTP/2 streams never see gate 1, so the evidence that gate 1 left on the session is judged again for this request.
#include "internal.h"

#include <errno.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

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

// MARK: Connections

ce_connection *ce_connection_create(ce_trust *trust, const char *host, bool host_is_address) {
    ce_connection *connection = calloc(1, sizeof *connection);
    if (!connection) return NULL;
    atomic_init(&connection->references, 1);
    ce_trust_retain(trust);
    connection->trust = trust;
    ce_copy_text(connection->host, CE_HOST_SIZE, host);
    connection->host_is_address = host_is_address;
    return connection;
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
        if (!ce_entry_fill(&report->chain[i], sk_X509_value(chain, i))) return;
        report->chain_count++;
    }
}

static bool expect_host(X509_STORE_CTX *context, const char *host, bool host_is_address) {
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_TRUSTED_FIRST);
    X509_VERIFY_PARAM_set_hostflags(
        param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (host_is_address) return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    return X509_VERIFY_PARAM_set1_host(param, host, 0) == 1;
}

int ce_verify(X509_STORE_CTX *context, const ce_trust *trust, const char *host, bool host_is_address, ce_report *report) {
    report->chain_count = 0;
    if (!expect_host(context, host, host_is_address)) {
        return refuse(context, report, CE_VERDICT_INTERNAL, X509_V_ERR_UNSPECIFIED, "the host name could not be set");
    }
    bool valid = X509_verify_cert(context) == 1;
    int error = X509_STORE_CTX_get_error(context);
    // The verified path where there is one: what a server merely presents proves nothing.
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
    record_chain(chain ? chain : X509_STORE_CTX_get0_untrusted(context), report);
    if (!valid || error != X509_V_OK) {
        report->depth = X509_STORE_CTX_get_error_depth(context);
        if (error == X509_V_OK) error = X509_V_ERR_UNSPECIFIED;
        ce_verdict verdict = is_host_error(error) ? CE_VERDICT_HOST : CE_VERDICT_CHAIN;
        return refuse(context, report, verdict, error, X509_verify_cert_error_string(error));
    }
    if (report->chain_count != (unsigned)sk_X509_num(chain)) {
        return refuse(context, report, CE_VERDICT_CHAIN, X509_V_ERR_CERT_CHAIN_TOO_LONG, "the chain is too long");
    }
    ce_digests digests[CE_CHAIN_MAXIMUM];
    for (unsigned i = 0; i < report->chain_count; i++) digests[i] = report->chain[i].digests;
    if (!ce_pins_match(trust, digests, report->chain_count)) {
        return refuse(context, report, CE_VERDICT_PINS, X509_V_ERR_APPLICATION_VERIFICATION,
                      "no pin matches the verified chain");
    }
    report->verdict = CE_VERDICT_TRUSTED;
    return 1;
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
    if (!ce_verify(context, connection->trust, connection->host, connection->host_is_address, report)) return 0;
    if (!attach_evidence(ssl, connection)) {
        return refuse(context, report, CE_VERDICT_INTERNAL, X509_V_ERR_OUT_OF_MEM, "out of memory");
    }
    return 1;
}

static void note_alert(const SSL *ssl, int where, int value) {
    if (where != SSL_CB_READ_ALERT || (value & 0xff) != SSL_AD_CLOSE_NOTIFY) return;
    ce_connection *connection = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), connection_index);
    if (connection) connection->was_closed = true;
}

static bool use_identity(SSL_CTX *ssl, const ce_trust *trust) {
    if (!trust->identity_certificate) return true;
    if (SSL_CTX_use_certificate(ssl, trust->identity_certificate) != 1) return false;
    if (SSL_CTX_set1_chain(ssl, trust->identity_chain) != 1) return false;
    return SSL_CTX_use_PrivateKey(ssl, trust->identity_key) == 1;
}

CURLcode ce_install_handshake_gate(CURL *easy, void *ssl_context, void *user) {
    (void)easy;
    ce_transfer *transfer = user;
    ce_trust *trust = transfer->multi->trust;
    SSL_CTX *ssl = ssl_context;
    pthread_once(&indexes_once, make_indexes);
    if (evidence_index < 0 || connection_index < 0) return CURLE_OUT_OF_MEMORY;
    ce_connection *connection = ce_connection_create(trust, transfer->host, transfer->host_is_address);
    if (!connection) return CURLE_OUT_OF_MEMORY;
    if (SSL_CTX_set_ex_data(ssl, connection_index, connection) != 1) {
        ce_connection_release(connection);
        return CURLE_OUT_OF_MEMORY;
    }
    ce_connection_retain(connection);
    ce_connection_release(transfer->connection);
    transfer->connection = connection;
    if (SSL_CTX_set1_verify_cert_store(ssl, trust->store) != 1) return CURLE_SSL_CERTPROBLEM;
    if (SSL_CTX_set_min_proto_version(ssl, trust->minimum_tls) != 1) return CURLE_SSL_CERTPROBLEM;
    if (!use_identity(ssl, trust)) return CURLE_SSL_CERTPROBLEM;
    SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(ssl, handshake_gate, connection);
    SSL_CTX_set_info_callback(ssl, note_alert);
    return CURLE_OK;
}

// MARK: Gate 2

static int stop(ce_transfer *transfer, ce_refusal refusal) {
    if (transfer->refusal == CE_REFUSED_NOT) transfer->refusal = refusal;
    return CURL_PREREQFUNC_ABORT;
}

static int distrust(ce_transfer *transfer, ce_verdict verdict, const char *text) {
    transfer->verdict = verdict;
    if (!transfer->report) transfer->report = calloc(1, sizeof *transfer->report);
    if (transfer->report) {
        transfer->report->verdict = verdict;
        ce_copy_text(transfer->report->text, CE_TEXT_SIZE, text);
    }
    return stop(transfer, CE_REFUSED_TRUST);
}

static int distrust_pins(ce_transfer *transfer, const ce_evidence *evidence) {
    int result = distrust(transfer, CE_VERDICT_PINS, "no pin matches the verified chain");
    if (!transfer->report) return result;
    transfer->report->chain_count = evidence->chain_count;
    for (unsigned i = 0; i < evidence->chain_count; i++) transfer->report->chain[i].digests = evidence->chain[i];
    return result;
}

static int judge_session(ce_transfer *transfer, SSL *ssl) {
    const ce_trust *trust = transfer->multi->trust;
    SSL_SESSION *session = SSL_get_session(ssl);
    const ce_evidence *evidence =
        session && evidence_index >= 0 ? SSL_SESSION_get_ex_data(session, evidence_index) : NULL;
    if (!evidence) return distrust(transfer, CE_VERDICT_EVIDENCE, "the session carries no proof of its peer");
    if (evidence->trust_identity != trust->identity) {
        return distrust(transfer, CE_VERDICT_OTHER_TRUST, "the session was made under another policy");
    }
    if (strcmp(evidence->host, transfer->host) != 0) {
        return distrust(transfer, CE_VERDICT_PEER, "the session was made for another host");
    }
    if (SSL_version(ssl) < trust->minimum_tls) {
        return distrust(transfer, CE_VERDICT_TLS_TOO_OLD, SSL_get_version(ssl));
    }
    if (evidence->not_after < (int64_t)time(NULL)) {
        return distrust(transfer, CE_VERDICT_EXPIRED, "a certificate of the session's chain has expired");
    }
    if (!ce_pins_match(trust, evidence->chain, evidence->chain_count)) return distrust_pins(transfer, evidence);
    transfer->verdict = CE_VERDICT_TRUSTED;
    return CURL_PREREQFUNC_OK;
}

static void hold_carrier(ce_transfer *transfer, SSL *ssl) {
    ce_connection *connection = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), connection_index);
    if (connection) ce_connection_retain(connection);
    ce_connection_release(transfer->carrier);
    transfer->carrier = connection;
}

static bool negotiated_http2(const SSL *ssl) {
    const unsigned char *protocol = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &protocol, &size);
    return size == 2 && memcmp(protocol, "h2", 2) == 0;
}

// Whether a kept connection's TLS layer holds application data, or its end; tickets and the like are read away.
static bool holds_plaintext(SSL *ssl) {
    char byte;
    ERR_clear_error();
    int count = SSL_peek(ssl, &byte, 1);
    bool is_empty = count <= 0 && SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ;
    ERR_clear_error();
    return !is_empty;
}

// A server that sends more than was asked for would have it taken for the answer to the next request on the connection
// (response splitting); one that has closed it would have that request sent for nothing.
static bool is_stale(ce_transfer *transfer, SSL *ssl, const ce_route *route) {
    if (transfer->speaks_http2 || transfer->multi->loop->settings.unix_socket) return false;
    if (!ce_transfer_on_kept_connection(transfer)) {
        ce_route_learn(transfer, route);
        return false;
    }
    if (ssl && SSL_has_pending(ssl)) return true;
    int fd = ce_route_find(transfer->multi->loop, route);
    if (fd < 0) return true;
    char byte;
    ssize_t count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
    return count <= 0 || !ssl || holds_plaintext(ssl);
}

int ce_request_gate(void *user, char *remote, char *local, int remote_port, int local_port) {
    ce_route route = {remote ? remote : "", local ? local : "", remote_port, local_port};
    ce_transfer *transfer = user;
    transfer->last_activity_ms = transfer->multi->loop->now_ms;
    // libcurl sends again, whatever the method, when a reused connection turns out dead. The server may have acted on
    // the first sending, so only an idempotent request goes out a second time, and nothing a third (RFC 9110, 9.2.2).
    if (transfer->send_count > (transfer->idempotent ? 1u : 0u)) return stop(transfer, CE_REFUSED_RESEND);
    // Nor does one that was answered already, or whose streamed body has begun: the beginning cannot be had again.
    bool is_used_up = transfer->upload.data || transfer->upload_ended;
    if (transfer->send_count && (transfer->head_done || is_used_up)) return stop(transfer, CE_REFUSED_RESEND);
    struct curl_tlssessioninfo *info = NULL;
    SSL *ssl = NULL;
    if (curl_easy_getinfo(transfer->easy, CURLINFO_TLS_SSL_PTR, &info) == CURLE_OK && info &&
        info->backend == CURLSSLBACKEND_OPENSSL) {
        ssl = info->internals;
    }
    transfer->speaks_http2 = ssl && transfer->secure ? negotiated_http2(ssl) : transfer->http_version == CE_HTTP_2;
    if (transfer->secure) {
        if (!ssl) return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
        int result = judge_session(transfer, ssl);
        if (result != CURL_PREREQFUNC_OK) return result;
        ce_copy_text(transfer->tls_version, sizeof transfer->tls_version, SSL_get_version(ssl));
        ce_copy_text(transfer->cipher, sizeof transfer->cipher, SSL_get_cipher_name(ssl));
        if (transfer->http_version == CE_HTTP_2 && !transfer->speaks_http2) return stop(transfer, CE_REFUSED_NOT_HTTP2);
        hold_carrier(transfer, ssl);
    } else if (transfer->multi->trust->pin_count) {
        return distrust(transfer, CE_VERDICT_PLAINTEXT, "the connection is not encrypted");
    }
    // libcurl's own second sending has found out already that its connection is new.
    if (is_stale(transfer, transfer->secure ? ssl : NULL, &route) && !transfer->send_count) {
        return stop(transfer, CE_REFUSED_STALE);
    }
    if (!ce_transfer_may_serve(transfer)) return stop(transfer, CE_REFUSED_STALE);
    transfer->send_count++;
    transfer->lent_offset = 0;
    return CURL_PREREQFUNC_OK;
}
