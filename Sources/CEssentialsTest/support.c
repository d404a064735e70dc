// Error texts and PEM.
#include "internal.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Threads of a server may still run when the process exits, so OpenSSL must not clean up then. A constructor runs
// before any other initialization of OpenSSL.
__attribute__((constructor)) static void keep_at_exit(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

void cet_describe(char *text, const char *what) {
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    if (reason) {
        snprintf(text, CET_TEXT_SIZE, "%s: %s", what, reason);
    } else if (code) {
        snprintf(text, CET_TEXT_SIZE, "%s: OpenSSL error %lx", what, code);
    } else {
        snprintf(text, CET_TEXT_SIZE, "%s", what);
    }
    ERR_clear_error();
}

bool cet_fail(cet_error *error, const char *what) {
    cet_describe(error->text, what);
    return false;
}

X509 *cet_parse_certificate(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return certificate;
}

EVP_PKEY *cet_parse_key(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return key;
}

STACK_OF(X509) *cet_parse_certificates(const char *pem) {
    BIO *bio = BIO_new_mem_buf(pem, -1);
    STACK_OF(X509) *all = bio ? sk_X509_new_null() : NULL;
    bool usable = all != NULL;
    while (usable) {
        X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        if (!certificate) break;
        if (!sk_X509_push(all, certificate)) {
            X509_free(certificate);
            usable = false;
        }
    }
    // The end of the text is the only expected error.
    if (usable && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
        ERR_clear_error();
    } else {
        usable = false;
    }
    BIO_free(bio);
    if (usable && sk_X509_num(all) > 0) return all;
    sk_X509_pop_free(all, X509_free);
    return NULL;
}

char *cet_take_text(BIO *bio) {
    char *bytes = NULL;
    long size = bio ? BIO_get_mem_data(bio, &bytes) : 0;
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    if (text) {
        memcpy(text, bytes, (size_t)size);
        text[size] = 0;
    }
    BIO_free(bio);
    return text;
}
