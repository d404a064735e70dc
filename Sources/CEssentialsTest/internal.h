// What the C files share.
#ifndef CET_INTERNAL_H
#define CET_INTERNAL_H

#include "CEssentialsTest.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct cet_context {
    SSL_CTX *ssl;
    unsigned char *protocols; // ALPN names, each after its length
    unsigned protocols_size;
    unsigned char *staple; // an OCSP response in DER form; NULL for none
    size_t staple_size;
};

struct cet_tls {
    SSL *ssl;
    cet_handshake handshake;
};

struct cet_session {
    SSL_SESSION *session;
};

/// Fills `text`, of CET_TEXT_SIZE bytes, with `what` and OpenSSL's last words, and forgets OpenSSL's errors.
void cet_describe(char *text, const char *what);

/// As `cet_describe`; always false.
bool cet_fail(cet_error *error, const char *what);

X509 *cet_parse_certificate(const char *pem);
EVP_PKEY *cet_parse_key(const char *pem);

/// All certificates of a PEM text, in order; NULL when there is none or one is broken.
STACK_OF(X509) *cet_parse_certificates(const char *pem);

/// The content of a memory BIO as a string for `free`; frees the BIO, which may be NULL.
char *cet_take_text(BIO *bio);

/// Records the server name of a ClientHello in the connection's handshake.
int cet_note_server_name(SSL *ssl, int *alert, void *argument);

#endif
