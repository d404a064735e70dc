// Declarations shared by the C files.
#ifndef CET_INTERNAL_H
#define CET_INTERNAL_H

#include "CEssentialsTest.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct cet_context {
    SSL_CTX *ssl;
    unsigned char *protocols; // ALPN names, each preceded by its length
    unsigned protocols_size;
    unsigned char *staple; // an OCSP response in DER form, or NULL
    size_t staple_size;
};

struct cet_tls {
    SSL *ssl;
    cet_handshake handshake;
};

struct cet_session {
    SSL_SESSION *session;
};

/// Fills `text`, of CET_TEXT_SIZE bytes, with `what` and OpenSSL's last error, and clears OpenSSL's error queue.
void cet_describe(char *text, const char *what);

/// Calls `cet_describe` and returns false.
bool cet_fail(cet_error *error, const char *what);

X509 *cet_parse_certificate(const char *pem);
EVP_PKEY *cet_parse_key(const char *pem);

/// All certificates of a PEM text in order; NULL if there is none or if one is invalid.
STACK_OF(X509) *cet_parse_certificates(const char *pem);

/// The content of a memory BIO as a string to be released with `free`. Frees the BIO, which may be NULL.
char *cet_take_text(BIO *bio);

/// Records the server name of a ClientHello in the connection's handshake.
int cet_note_server_name(SSL *ssl, int *alert, void *argument);

#endif
