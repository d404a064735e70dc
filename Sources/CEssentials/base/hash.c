// Hashes computed by OpenSSL: SHA-256 piece by piece for files, and other functions in one call.
#include "CEssentials.h"

#include <openssl/err.h>
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

bool ce_hash(ce_hash_function function, const void *data, size_t size, uint8_t *out, size_t *out_size) {
    static const char *const names[] = {"MD5", "SHA2-256", "SHA2-512/256"};
    if ((size_t)function >= sizeof names / sizeof *names) return false;
    // The functions are fetched by name, so that a build or provider without MD5 still has the others.
    EVP_MD *digest = EVP_MD_fetch(NULL, names[function], NULL);
    if (!digest) {
        ERR_clear_error();
        return false;
    }
    unsigned count = 0;
    bool done = EVP_Digest(data, size, out, &count, digest, NULL) == 1;
    EVP_MD_free(digest);
    *out_size = count;
    return done;
}
