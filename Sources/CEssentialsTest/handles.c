// Tools for trust tests: OpenSSL's own handles, contexts that do not verify their peer, and renegotiation by a server.
#include "internal.h"

#include <openssl/err.h>

void *cet_context_handle(cet_context *context) { return context->ssl; }

void *cet_tls_handle(cet_tls *tls) { return tls->ssl; }

bool cet_context_loosen(cet_context *context) {
    X509_VERIFY_PARAM *rule = SSL_CTX_get0_param(context->ssl);
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_NONE, NULL);
    return SSL_CTX_set_min_proto_version(context->ssl, TLS1_VERSION) == 1
        && X509_VERIFY_PARAM_set_flags(rule, X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN) == 1;
}

// Reserves an index for data attached to a session, so that `forget` is called when the session is copied.
static void take_place(void *parent, void *value, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
    (void)parent, (void)value, (void)argument, (void)pointer;
    CRYPTO_set_ex_data(data, index, NULL);
}

static int forget(
    CRYPTO_EX_DATA *to, const CRYPTO_EX_DATA *from, void **value, int index, long argument, void *pointer) {
    (void)from, (void)value, (void)argument, (void)pointer;
    for (int i = 0; i < index; i++) CRYPTO_set_ex_data(to, i, NULL);
    return 1;
}

bool cet_sessions_forget(void) { return SSL_SESSION_get_ex_new_index(0, NULL, take_place, forget, NULL) >= 0; }

bool cet_tls_renegotiate(cet_tls *tls, bool asks_for_certificate) {
    if (asks_for_certificate) SSL_set_verify(tls->ssl, SSL_VERIFY_PEER, NULL);
    ERR_clear_error();
    // With automatic retries, SSL_peek would wait after the second handshake for data that the client may never send.
    SSL_clear_mode(tls->ssl, SSL_MODE_AUTO_RETRY);
    bool asked = SSL_renegotiate(tls->ssl) == 1 && SSL_do_handshake(tls->ssl) == 1;
    char byte;
    int outcome = asked ? SSL_peek(tls->ssl, &byte, 1) : 0;
    bool done = asked && outcome <= 0 && SSL_get_error(tls->ssl, outcome) == SSL_ERROR_WANT_READ;
    SSL_set_mode(tls->ssl, SSL_MODE_AUTO_RETRY);
    ERR_clear_error();
    return done;
}
