// The system's bundle of anchors. It is read for the first handshake, so that a program without TLS connections does
// not pay for it. Policies with the same bundle share one copy in the process.
#include "system_anchors.h"

#include "../base/text.h"
#include "certificates.h"

#include <errno.h>
#include <openssl/err.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The bundle that was read last. One is sufficient, because a process has one environment.
static struct {
    pthread_mutex_t lock;
    char *path;
    struct stat identity;
    X509_STORE *store;
} bundle = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino && one->st_size == other->st_size &&
           one->st_mtim.tv_sec == other->st_mtim.tv_sec && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

// Reads the file, unless it was the last one read. NULL if it holds no anchors. To be called under the lock.
static X509_STORE *read_bundle(const char *path, char text[CE_TEXT_SIZE]) {
    struct stat identity;
    ERR_clear_error();
    if (stat(path, &identity) != 0) {
        ce_copy_system_error(text, errno);
        return NULL;
    }
    // The lock is shared by the whole process, so nothing under it may block.
    if (!S_ISREG(identity.st_mode)) {
        ce_copy_text(text, CE_TEXT_SIZE, "it is no regular file");
        return NULL;
    }
    if (bundle.store && strcmp(bundle.path, path) == 0 && is_same(&bundle.identity, &identity)) return bundle.store;
    char *copy = strdup(path);
    X509_STORE *store = X509_STORE_new();
    if (!copy || !store || X509_STORE_load_file(store, path) != 1) {
        ce_openssl_text(text, "out of memory");
        X509_STORE_free(store);
        free(copy);
        return NULL;
    }
    X509_STORE_free(bundle.store);
    free(bundle.path);
    bundle.path = copy;
    bundle.identity = identity;
    bundle.store = store;
    return store;
}

// The stores share certificates by reference counts.
static bool copy_objects(X509_STORE *to, X509_STORE *from) {
    STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(from);
    for (int i = 0; i < sk_X509_OBJECT_num(objects); i++) {
        X509_OBJECT *object = sk_X509_OBJECT_value(objects, i);
        X509 *certificate = X509_OBJECT_get0_X509(object);
        X509_CRL *list = X509_OBJECT_get0_X509_CRL(object);
        if (certificate && X509_STORE_add_cert(to, certificate) != 1) return false;
        if (list && X509_STORE_add_crl(to, list) != 1) return false;
    }
    return true;
}

bool ce_trust_load_anchors(ce_trust *trust, ce_report *report) {
    if (!trust->system_file || atomic_load_explicit(&trust->has_anchors, memory_order_acquire)) return true;
    pthread_mutex_lock(&bundle.lock);
    if (!atomic_load_explicit(&trust->has_anchors, memory_order_relaxed)) {
        ce_copy_text(report->text, CE_TEXT_SIZE, "out of memory");
        X509_STORE *store = read_bundle(trust->system_file, report->text);
        bool is_loaded = store && copy_objects(trust->store, store);
        if (is_loaded) atomic_store_explicit(&trust->has_anchors, true, memory_order_release);
    }
    pthread_mutex_unlock(&bundle.lock);
    if (atomic_load_explicit(&trust->has_anchors, memory_order_relaxed)) return true;
    report->verdict = CE_VERDICT_ANCHORS;
    return false;
}
