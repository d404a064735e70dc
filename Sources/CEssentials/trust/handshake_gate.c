// The first gate of a trust policy. It runs inside the handshake as OpenSSL's certificate verification, so that a wrong
// server receives neither the client certificate nor a byte of the request. It attaches evidence to the session for the
// second gate, transfer/request_gate.c.
#include "handshake_gate.h"

#include "chain_verification.h"
#include "ocsp_staple.h"
#include "system_anchors.h"

#include <string.h>

static int handshake_gate(X509_STORE_CTX *context, void *user) {
    ce_connection *connection = user;
    ce_report *report = &connection->report;
    SSL *ssl = X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx());
    const char *sni = ssl ? SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) : NULL;
    // libcurl runs this for every TLS peer that the transfer needs. A peer other than the expected one is refused.
    bool expected = connection->host_is_address ? sni == NULL : sni && strcmp(sni, connection->host) == 0;
    if (!ssl || !expected) {
        return ce_verify_refuse(context, report, CE_VERDICT_PEER, X509_V_ERR_APPLICATION_VERIFICATION, sni ? sni : "");
    }
    ce_peer peer = ce_connection_peer(connection);
    // Names are also needed if a bad stapled status may still refuse a chain that is trusted here.
    bool names_trusted = connection->records_names || peer.trust->staple != CE_STAPLE_IGNORED;
    if (!ce_verify(context, &peer, names_trusted, report)) return 0;
    if (!ce_evidence_attach(ssl, connection)) {
        return ce_verify_refuse(context, report, CE_VERDICT_INTERNAL, X509_V_ERR_OUT_OF_MEM, "out of memory");
    }
    return 1;
}

// Runs after the server has sent its certificates and its status, and before the client sends its own certificate. A
// resumed session was judged when it was made.
static int status_gate(SSL *ssl, void *user) {
    ce_connection *connection = user;
    return SSL_session_reused(ssl) || ce_staple_is_good(ssl, connection->trust, &connection->report);
}

static bool use_identity(SSL_CTX *ssl, const ce_trust *trust) {
    if (!trust->identity_certificate) return true;
    if (SSL_CTX_use_certificate(ssl, trust->identity_certificate) != 1) return false;
    if (SSL_CTX_set1_chain(ssl, trust->identity_chain) != 1) return false;
    return SSL_CTX_use_PrivateKey(ssl, trust->identity_key) == 1;
}

bool ce_handshake_gate_install(SSL_CTX *ssl, ce_connection *connection) {
    ce_trust *trust = connection->trust;
    // Verification comes first: if a later step fails, the context either verifies as strictly as before or refuses.
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

static bool is_for(const ce_connection *connection, const ce_peer *peer) {
    return connection->trust == peer->trust && connection->rule == peer->rule &&
           connection->host_is_address == peer->host_is_address && strcmp(connection->host, peer->host) == 0;
}

ce_install_result ce_trust_install(
    ce_trust *trust, size_t rule, const char *host, bool host_is_address, void *ssl_context) {
    ce_peer peer = {trust, rule, host, host_is_address};
    ce_connection *connection = ce_connection_installed_on(ssl_context);
    if (connection) {
        // OpenSSL cannot remove a certificate and its key from a context, and connections made from it keep their
        // copies. A second policy would therefore present the first one's identity.
        if (!is_for(connection, &peer)) return CE_INSTALL_TAKEN;
        connection->report = (ce_report){.verdict = CE_VERDICT_NONE};
    } else {
        connection = ce_connection_create(&peer);
        if (!connection || !ce_connection_attach(ssl_context, connection)) return CE_INSTALL_FAILED;
    }
    return ce_handshake_gate_install(ssl_context, connection) ? CE_INSTALL_DONE : CE_INSTALL_FAILED;
}

const ce_report *ce_trust_installed_report(void *ssl_context) {
    ce_connection *connection = ce_connection_installed_on(ssl_context);
    return connection ? &connection->report : NULL;
}
