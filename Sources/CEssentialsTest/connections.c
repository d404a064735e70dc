// One end of a TLS connection over a blocking socket.
#include "internal.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cet_tls *cet_tls_create(cet_context *context, int socket) {
    cet_tls *tls = calloc(1, sizeof *tls);
    if (!tls) return NULL;
    tls->ssl = SSL_new(context->ssl);
    if (tls->ssl && SSL_set_fd(tls->ssl, socket) == 1 && SSL_set_app_data(tls->ssl, tls) == 1) return tls;
    ERR_clear_error();
    SSL_free(tls->ssl);
    free(tls);
    return NULL;
}

void cet_tls_free(cet_tls *tls) {
    if (!tls) return;
    // Otherwise OpenSSL would drop the session of a connection that did not end with close_notify.
    SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
    free(tls);
}

// MARK: Handshake

// The name is read from the ClientHello, so that it is available for failed and resumed handshakes too.
int cet_note_server_name(SSL *ssl, int *alert, void *argument) {
    (void)alert, (void)argument;
    cet_tls *tls = SSL_get_app_data(ssl);
    const unsigned char *bytes = NULL;
    size_t size = 0;
    if (!tls || SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &bytes, &size) != 1) {
        return SSL_CLIENT_HELLO_SUCCESS;
    }
    // RFC 6066, section 3: the length of the list, the type of the entry (0 is a host name), the
    // length of the name, the name.
    if (size < 5 || bytes[2] != 0) return SSL_CLIENT_HELLO_SUCCESS;
    size_t length = (size_t)bytes[3] << 8 | bytes[4];
    if (length > size - 5 || length >= CET_TEXT_SIZE) return SSL_CLIENT_HELLO_SUCCESS;
    memcpy(tls->handshake.server_name, bytes + 5, length);
    tls->handshake.server_name[length] = 0;
    return SSL_CLIENT_HELLO_SUCCESS;
}

static bool conclude(cet_tls *tls, int outcome) {
    cet_handshake *handshake = &tls->handshake;
    int system_error = errno;
    handshake->succeeded = outcome == 1;
    handshake->resumed = SSL_session_reused(tls->ssl) == 1;
    snprintf(handshake->version, sizeof handshake->version, "%s", SSL_get_version(tls->ssl));
    const unsigned char *protocol = NULL;
    unsigned size = 0;
    SSL_get0_alpn_selected(tls->ssl, &protocol, &size);
    const char *name = protocol ? (const char *)protocol : "";
    snprintf(handshake->protocol, sizeof handshake->protocol, "%.*s", (int)size, name);
    if (handshake->succeeded) {
        ERR_clear_error();
        return true;
    }
    long verdict = SSL_get_verify_result(tls->ssl);
    if (verdict != X509_V_OK) {
        char what[CET_TEXT_SIZE];
        snprintf(what, sizeof what, "certificate refused (%s)", X509_verify_cert_error_string(verdict));
        cet_describe(handshake->error, what);
    } else if (ERR_peek_error()) {
        cet_describe(handshake->error, "handshake failed");
    } else if (system_error) {
        snprintf(handshake->error, sizeof handshake->error, "handshake failed: %s", strerror(system_error));
    } else {
        snprintf(handshake->error, sizeof handshake->error, "handshake failed: the peer closed the connection");
    }
    return false;
}

bool cet_tls_accept(cet_tls *tls) {
    ERR_clear_error();
    errno = 0;
    return conclude(tls, SSL_accept(tls->ssl));
}

bool cet_tls_connect(cet_tls *tls, const char *host, cet_session *session) {
    ERR_clear_error();
    errno = 0;
    // SNI carries names only. An address is checked against the certificate's addresses.
    X509_VERIFY_PARAM *rule = SSL_get0_param(tls->ssl);
    bool is_address = X509_VERIFY_PARAM_set1_ip_asc(rule, host) == 1;
    bool ready = is_address || (SSL_set1_host(tls->ssl, host) == 1 && SSL_set_tlsext_host_name(tls->ssl, host) == 1);
    if (session) ready = ready && SSL_set_session(tls->ssl, session->session) == 1;
    ERR_clear_error();
    return conclude(tls, ready ? SSL_connect(tls->ssl) : 0);
}

cet_handshake cet_tls_handshake(const cet_tls *tls) { return tls->handshake; }

char *cet_tls_peer_certificate(const cet_tls *tls) {
    X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
    BIO *bio = certificate ? BIO_new(BIO_s_mem()) : NULL;
    if (bio && PEM_write_bio_X509(bio, certificate) != 1) {
        BIO_free(bio);
        bio = NULL;
    }
    ERR_clear_error();
    return cet_take_text(bio);
}

// MARK: Bytes

long cet_tls_read(cet_tls *tls, void *buffer, size_t size) {
    ERR_clear_error();
    size_t count = 0;
    int outcome = SSL_read_ex(tls->ssl, buffer, size, &count);
    if (outcome == 1) return (long)count;
    bool finished = SSL_get_error(tls->ssl, outcome) == SSL_ERROR_ZERO_RETURN;
    ERR_clear_error();
    return finished ? 0 : -1;
}

bool cet_tls_write(cet_tls *tls, const void *buffer, size_t size) {
    if (!size) return true;
    ERR_clear_error();
    size_t count = 0;
    // Without partial writes, one call on a blocking socket sends everything or fails.
    bool written = SSL_write_ex(tls->ssl, buffer, size, &count) == 1 && count == size;
    ERR_clear_error();
    return written;
}

size_t cet_tls_pending(const cet_tls *tls) { return (size_t)SSL_pending(tls->ssl); }

void cet_tls_finish(cet_tls *tls) {
    if (!SSL_is_init_finished(tls->ssl)) return;
    ERR_clear_error();
    SSL_shutdown(tls->ssl);
    ERR_clear_error();
}

// MARK: Sessions

cet_session *cet_tls_session(cet_tls *tls) {
    SSL_SESSION *own = SSL_get0_session(tls->ssl);
    bool usable = own && SSL_SESSION_is_resumable(own);
    // A copy, because OpenSSL invalidates the session of a connection that ends with an error.
    SSL_SESSION *session = usable ? SSL_SESSION_dup(own) : NULL;
    cet_session *result = session ? calloc(1, sizeof *result) : NULL;
    if (!result) {
        SSL_SESSION_free(session);
        return NULL;
    }
    result->session = session;
    return result;
}

void cet_session_free(cet_session *session) {
    if (!session) return;
    SSL_SESSION_free(session->session);
    free(session);
}
