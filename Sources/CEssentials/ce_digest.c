// SHA-256 by OpenSSL, for files.
#include "CEssentials.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct ce_digest {
    EVP_MD_CTX *context;
};

ce_digest *ce_digest_create(void) {
    ce_digest *digest = calloc(1, sizeof *digest);
    if (!digest) return NULL;
    digest->context = EVP_MD_CTX_new();
    if (digest->context && EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL) == 1) return digest;
    ce_digest_destroy(digest);
    return NULL;
}

void ce_digest_destroy(ce_digest *digest) {
    if (!digest) return;
    EVP_MD_CTX_free(digest->context);
    free(digest);
}

bool ce_digest_update(ce_digest *digest, const void *data, size_t size) {
    return size == 0 || EVP_DigestUpdate(digest->context, data, size) == 1;
}

bool ce_digest_finish(ce_digest *digest, uint8_t *out) {
    unsigned size = 0;
    return EVP_DigestFinal_ex(digest->context, out, &size) == 1 && size == 32;
}
