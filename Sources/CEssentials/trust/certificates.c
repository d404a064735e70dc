#include "certificates.h"

#include "../base/text.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

void ce_openssl_text(char text[CE_TEXT_SIZE], const char *fallback) {
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    ce_copy_text(text, CE_TEXT_SIZE, reason ? reason : fallback);
    ERR_clear_error();
}

bool ce_trust_fail(ce_trust_error *error, ce_trust_error_kind kind, const char *fallback) {
    error->kind = kind;
    ce_openssl_text(error->text, fallback);
    return false;
}

int ce_no_passphrase(char *buffer, int size, int writing, void *user) {
    (void)buffer, (void)size, (void)writing, (void)user;
    return -1;
}

STACK_OF(X509) *ce_certificates_read(const char *pem, size_t size) {
    BIO *bio = size <= INT32_MAX ? BIO_new_mem_buf(pem, (int)size) : NULL;
    STACK_OF(X509) *certificates = sk_X509_new_null();
    bool damaged = !bio || !certificates;
    ERR_clear_error();
    while (!damaged) {
        X509 *certificate = PEM_read_bio_X509(bio, NULL, ce_no_passphrase, NULL);
        if (!certificate) break;
        if (!sk_X509_push(certificates, certificate)) {
            X509_free(certificate);
            damaged = true;
        }
    }
    unsigned long last = ERR_peek_last_error();
    bool at_end = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    if (at_end && certificates && sk_X509_num(certificates) > 0) ERR_clear_error();
    else damaged = true;
    BIO_free(bio);
    if (!damaged) return certificates;
    sk_X509_pop_free(certificates, X509_free);
    return NULL;
}

static int64_t seconds_of(const ASN1_TIME *time) {
    struct tm parts;
    if (!time || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    return (int64_t)timegm(&parts);
}

static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;
static const EVP_MD *fetched_sha256;

static void fetch_sha256(void) { fetched_sha256 = EVP_MD_fetch(NULL, "SHA2-256", NULL); }

// OpenSSL 3 looks EVP_sha256() up at each use. This one is fetched once per process and never freed.
static const EVP_MD *sha256(void) {
    pthread_once(&sha256_once, fetch_sha256);
    return fetched_sha256 ? fetched_sha256 : EVP_sha256();
}

static bool digest_public_key(X509 *certificate, uint8_t digest[CE_DIGEST_SIZE]) {
    // The digest covers the whole SubjectPublicKeyInfo with its algorithm, because the same bits are another key under
    // another algorithm.
    unsigned char *der = NULL;
    int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
    if (size <= 0) return false;
    bool done = EVP_Digest(der, (size_t)size, digest, NULL, sha256(), NULL) == 1;
    OPENSSL_free(der);
    return done;
}

bool ce_entry_measure(ce_chain_entry *entry, X509 *certificate) {
    memset(entry, 0, sizeof *entry);
    unsigned size = CE_DIGEST_SIZE;
    if (X509_digest(certificate, sha256(), entry->digests.certificate, &size) != 1) return false;
    if (!digest_public_key(certificate, entry->digests.public_key)) return false;
    entry->not_before = seconds_of(X509_get0_notBefore(certificate));
    entry->not_after = seconds_of(X509_get0_notAfter(certificate));
    return true;
}

bool ce_entry_name(ce_chain_entry *entry, X509 *certificate) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (!bio) return false;
    // The text is UTF-8 with control characters escaped, so that a name cannot forge lines in a log.
    X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    int read = BIO_read(bio, entry->subject, CE_TEXT_SIZE - 1);
    entry->subject[read > 0 ? read : 0] = 0;
    BIO_free(bio);
    return true;
}

bool ce_entry_fill(ce_chain_entry *entry, X509 *certificate) {
    return ce_entry_measure(entry, certificate) && ce_entry_name(entry, certificate);
}

int ce_inspect_pem(const char *pem, size_t size, ce_report *report, ce_trust_error *error) {
    *error = (ce_trust_error){.kind = CE_TRUST_OK};
    report->verdict = CE_VERDICT_NONE;
    report->chain_count = 0;
    STACK_OF(X509) *certificates = ce_certificates_read(pem, size);
    if (!certificates) {
        ce_trust_fail(error, CE_TRUST_ANCHORS, "no certificate in the text");
        return -1;
    }
    int count = sk_X509_num(certificates);
    if (count > CE_CHAIN_MAXIMUM) count = CE_CHAIN_MAXIMUM;
    for (int i = 0; i < count; i++) {
        if (!ce_entry_fill(&report->chain[i], sk_X509_value(certificates, i))) {
            ce_trust_fail(error, CE_TRUST_ANCHORS, "a certificate could not be read");
            count = -1;
            break;
        }
        report->chain_count = (unsigned)i + 1;
    }
    sk_X509_pop_free(certificates, X509_free);
    return count;
}
