#include "trust_floor.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

struct trust_floor {
    X509_STORE *store;
};

trust_floor *trust_floor_create(const char *anchor_pem, size_t size) {
    trust_floor *floor = calloc(1, sizeof *floor);
    BIO *bio = BIO_new_mem_buf(anchor_pem, (int)size);
    X509 *anchor = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    if (floor) floor->store = X509_STORE_new();
    bool done = floor && floor->store && anchor && X509_STORE_add_cert(floor->store, anchor) == 1;
    X509_free(anchor);
    BIO_free(bio);
    if (done) return floor;
    trust_floor_destroy(floor);
    return NULL;
}

void trust_floor_destroy(trust_floor *floor) {
    if (!floor) return;
    X509_STORE_free(floor->store);
    free(floor);
}

bool trust_floor_verify(
    trust_floor *floor, const uint8_t *leaf, size_t leaf_size, const uint8_t *issuer, size_t issuer_size,
    const char *host) {
    const unsigned char *leaf_der = leaf, *issuer_der = issuer;
    X509 *first = d2i_X509(NULL, &leaf_der, (long)leaf_size), *second = d2i_X509(NULL, &issuer_der, (long)issuer_size);
    STACK_OF(X509) *chain = sk_X509_new_null();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    bool done = false;
    if (first && second && chain && context && sk_X509_push(chain, first) && sk_X509_push(chain, second) &&
        X509_STORE_CTX_init(context, floor->store, first, chain) == 1 &&
        X509_STORE_CTX_set_default(context, "ssl_server") == 1) {
        X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(context), host, 0);
        done = X509_verify_cert(context) == 1;
    }
    X509_STORE_CTX_free(context);
    sk_X509_free(chain);
    X509_free(first);
    X509_free(second);
    return done;
}
