#include "handshake_setup.h"

#include "../trust/first_record.h"
#include "../trust/handshake_gate.h"

static void note_alert(const SSL *ssl, int where, int value) {
    if (where != SSL_CB_READ_ALERT || (value & 0xff) != SSL_AD_CLOSE_NOTIFY) return;
    ce_connection *connection = ce_connection_of(ssl);
    if (connection) connection->was_closed = true;
}

// OpenSSL asks for the certificate of a policy that has none, because the server has asked for it. The handshake
// continues without one.
static int note_missing_identity(SSL *ssl, X509 **certificate, EVP_PKEY **key) {
    (void)certificate, (void)key;
    ce_connection *connection = ce_connection_of(ssl);
    if (connection) connection->lacks_identity = true;
    return 0;
}

CURLcode ce_install_handshake_gate(CURL *easy, void *ssl_context, void *user) {
    (void)easy;
    ce_transfer *transfer = user;
    ce_run_gates *gates = &transfer->run.gates;
    const ce_run_request *request = &transfer->run.request;
    ce_multi *multi = transfer->handle.multi;
    // libcurl calls this for the TLS connection to the proxy as well and does not say which one it is. The proxy's
    // handshake is the first one on such a connection. No SSL option is used to tell them apart, because an OpenSSL
    // configuration could set it.
    bool is_proxy = request->proxy_is_secure && gates->handshakes == 0;
    gates->handshakes++;
    if (is_proxy && !multi->proxy_trust) return CURLE_SSL_CERTPROBLEM;
    ce_peer peer = {multi->trust, request->rule, request->host, request->host_is_address};
    if (is_proxy) {
        peer = (ce_peer){multi->proxy_trust, request->proxy_rule, request->proxy_host, request->proxy_is_address};
    }
    ce_connection *connection = ce_connection_create(&peer);
    if (!connection) return CURLE_OUT_OF_MEMORY;
    connection->is_proxy = is_proxy;
    connection->records_names = request->records_trust;
    ce_connection_retain(connection);
    ce_connection_release(gates->connection);
    gates->connection = connection;
    // libcurl creates a context for each connection, so none has a policy yet.
    if (!ce_connection_attach(ssl_context, connection)) return CURLE_SSL_CERTPROBLEM;
    if (!ce_handshake_gate_install(ssl_context, connection)) return CURLE_SSL_CERTPROBLEM;
    SSL_CTX_set_info_callback(ssl_context, note_alert);
    SSL_CTX_set_client_cert_cb(ssl_context, note_missing_identity);
    // The buffer with the bytes of a link may move before OpenSSL has taken all of them.
    if (request->is_link) SSL_CTX_set_mode(ssl_context, SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_ENABLE_PARTIAL_WRITE);
    ce_first_record_watch(ssl_context, &connection->report);
    return CURLE_OK;
}
