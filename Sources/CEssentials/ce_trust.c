// Policies compiled for OpenSSL, and the reading of certificates.
#include "internal.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_uint_fast64_t next_identity = 1;

void ce_copy_text(char *to, size_t size, const char *from) {
    size_t count = strnlen(from, size - 1);
    memcpy(to, from, count);
    to[count] = 0;
}

void ce_openssl_text(char text[CE_TEXT_SIZE], const char *fallback) {
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    ce_copy_text(text, CE_TEXT_SIZE, reason ? reason : fallback);
    ERR_clear_error();
}

static bool fail(ce_trust_error *error, ce_trust_error_kind kind, const char *fallback) {
    error->kind = kind;
    ce_openssl_text(error->text, fallback);
    return false;
}

// A PEM file never asks for a passphrase on the terminal.
static int no_passphrase(char *buffer, int size, int writing, void *user) {
    (void)buffer, (void)size, (void)writing, (void)user;
    return -1;
}

static int given_passphrase(char *buffer, int size, int writing, void *user) {
    (void)writing;
    size_t count = user ? strlen(user) : 0;
    if (!user || count > (size_t)size) return -1;
    memcpy(buffer, user, count);
    return (int)count;
}

// MARK: Life

void ce_trust_retain(ce_trust *trust) { atomic_fetch_add_explicit(&trust->references, 1, memory_order_relaxed); }

void ce_trust_release(ce_trust *trust) {
    if (!trust || atomic_fetch_sub_explicit(&trust->references, 1, memory_order_acq_rel) != 1) return;
    X509_STORE_free(trust->store);
    free(trust->system_file);
    X509_free(trust->identity_certificate);
    sk_X509_pop_free(trust->identity_chain, X509_free);
    EVP_PKEY_free(trust->identity_key);
    free(trust->pins);
    free(trust->rules);
    free(trust);
}

// MARK: Anchors

// Reads certificates until the text ends. NULL when one is damaged or there is none.
static STACK_OF(X509) *read_certificates(const char *pem, size_t size) {
    BIO *bio = size <= INT32_MAX ? BIO_new_mem_buf(pem, (int)size) : NULL;
    STACK_OF(X509) *certificates = sk_X509_new_null();
    bool damaged = !bio || !certificates;
    ERR_clear_error();
    while (!damaged) {
        X509 *certificate = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
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

static bool add_explicit_anchors(ce_trust *trust, const ce_trust_config *config, ce_trust_error *error) {
    if (!config->anchors_pem) return true;
    STACK_OF(X509) *anchors = read_certificates(config->anchors_pem, config->anchors_pem_size);
    if (!anchors) return fail(error, CE_TRUST_ANCHORS, "no certificate in the text");
    bool added = true, partial = false;
    for (int i = 0; added && i < sk_X509_num(anchors); i++) {
        X509 *anchor = sk_X509_value(anchors, i);
        added = X509_STORE_add_cert(trust->store, anchor) == 1;
        partial = partial || X509_self_signed(anchor, 0) != 1;
    }
    sk_X509_pop_free(anchors, X509_free);
    if (!added) return fail(error, CE_TRUST_ANCHORS, "a certificate could not be added to the store");
    // A path may end below a root only where the caller named such a certificate as an anchor.
    if (partial) X509_STORE_set_flags(trust->store, X509_V_FLAG_PARTIAL_CHAIN);
    return true;
}

static bool add_system_anchors(ce_trust *trust, const ce_trust_config *config, ce_trust_error *error) {
    // Read when the first handshake needs it: see ce_anchors.c.
    if (config->system_file && !(trust->system_file = strdup(config->system_file))) {
        return fail(error, CE_TRUST_OUT_OF_MEMORY, "out of memory");
    }
    // A hashed directory is read by name when a chain needs an anchor, and the store keeps what it read.
    if (config->system_directory && X509_STORE_load_path(trust->store, config->system_directory) != 1) {
        return fail(error, CE_TRUST_SYSTEM_ANCHORS, "the directory could not be used");
    }
    return true;
}

// MARK: Revocation

// A list that OpenSSL would pass over in silence, and whatever it revokes with it. NULL for one that is judged.
static const char *why_passed_over(X509_CRL *list) {
    if (X509_CRL_get_ext_by_NID(list, NID_delta_crl, -1) >= 0) return "it says only what has changed since another";
    ISSUING_DIST_POINT *scope = X509_CRL_get_ext_d2i(list, NID_issuing_distribution_point, NULL, NULL);
    const char *reason = NULL;
    if (scope && scope->onlysomereasons) reason = "it is about some reasons for revocation only";
    if (scope && scope->indirectCRL > 0) reason = "it may be about the certificates of other issuers";
    ISSUING_DIST_POINT_free(scope);
    return reason;
}

static bool add_revocation_lists(ce_trust *trust, const ce_trust_config *config, ce_trust_error *error) {
    trust->staple = config->staple;
    if (!config->revocation_pem) return true;
    BIO *bio = config->revocation_pem_size <= INT32_MAX
                   ? BIO_new_mem_buf(config->revocation_pem, (int)config->revocation_pem_size)
                   : NULL;
    int count = 0;
    bool added = bio != NULL;
    const char *passed_over = NULL;
    ERR_clear_error();
    while (added && !passed_over) {
        X509_CRL *list = PEM_read_bio_X509_CRL(bio, NULL, no_passphrase, NULL);
        if (!list) break;
        passed_over = why_passed_over(list);
        added = X509_STORE_add_crl(trust->store, list) == 1;
        X509_CRL_free(list);
        count++;
    }
    BIO_free(bio);
    if (passed_over) {
        ERR_clear_error();
        return fail(error, CE_TRUST_REVOCATION_SCOPE, passed_over);
    }
    unsigned long last = ERR_peek_last_error();
    bool at_end = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    if (!added || !at_end || count == 0) return fail(error, CE_TRUST_REVOCATION, "no revocation list in the text");
    ERR_clear_error();
    X509_STORE_set_flags(trust->store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return true;
}

// MARK: Client identity

static bool read_identity(ce_trust *trust, const ce_trust_config *config, ce_trust_error *error) {
    if (!config->identity_certificate_pem) return true;
    trust->identity_chain =
        read_certificates(config->identity_certificate_pem, config->identity_certificate_pem_size);
    if (!trust->identity_chain) return fail(error, CE_TRUST_IDENTITY_CERTIFICATE, "no certificate in the text");
    trust->identity_certificate = sk_X509_shift(trust->identity_chain);
    if (!config->identity_key_pem || config->identity_key_pem_size > INT32_MAX) {
        return fail(error, CE_TRUST_IDENTITY_KEY, "no private key in the text");
    }
    BIO *bio = BIO_new_mem_buf(config->identity_key_pem, (int)config->identity_key_pem_size);
    if (bio) trust->identity_key = PEM_read_bio_PrivateKey(bio, NULL, given_passphrase, (void *)config->passphrase);
    BIO_free(bio);
    if (!trust->identity_key && config->passphrase) {
        return fail(error, CE_TRUST_PASSPHRASE, "the key could not be decrypted");
    }
    if (!trust->identity_key) return fail(error, CE_TRUST_IDENTITY_KEY, "no private key in the text");
    if (X509_check_private_key(trust->identity_certificate, trust->identity_key) != 1) {
        return fail(error, CE_TRUST_IDENTITY_MISMATCH, "the key does not belong to the certificate");
    }
    return true;
}

// MARK: Creation

static bool copy_rules(ce_trust *trust, const ce_trust_config *config) {
    trust->rule_count = config->rule_count;
    trust->rules = calloc(config->rule_count + 1, sizeof *trust->rules);
    trust->pins = calloc(config->pin_count + 1, sizeof *trust->pins);
    if (!trust->rules || !trust->pins) return false;
    if (config->rule_count) memcpy(trust->rules, config->rules, config->rule_count * sizeof *trust->rules);
    if (config->pin_count) memcpy(trust->pins, config->pins, config->pin_count * sizeof *trust->pins);
    return true;
}

ce_trust *ce_trust_create(const ce_trust_config *config, ce_trust_error *error) {
    *error = (ce_trust_error){.kind = CE_TRUST_OK};
    ce_trust *trust = calloc(1, sizeof *trust);
    if (!trust) {
        fail(error, CE_TRUST_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    atomic_init(&trust->references, 1);
    trust->identity = atomic_fetch_add(&next_identity, 1);
    trust->minimum_tls = config->minimum_tls;
    trust->store = X509_STORE_new();
    if (!trust->store || !copy_rules(trust, config)) {
        fail(error, CE_TRUST_OUT_OF_MEMORY, "out of memory");
        ce_trust_release(trust);
        return NULL;
    }
    X509_STORE_set_flags(trust->store, X509_V_FLAG_TRUSTED_FIRST);
    // For the chains of OCSP responders; a handshake sets its own level, which the gate raises.
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_get0_param(trust->store), CE_SECURITY_LEVEL);
    if (add_system_anchors(trust, config, error) && add_explicit_anchors(trust, config, error) &&
        add_revocation_lists(trust, config, error) && read_identity(trust, config, error)) {
        return trust;
    }
    ce_trust_release(trust);
    return NULL;
}

// MARK: Certificates

static int64_t seconds_of(const ASN1_TIME *time) {
    struct tm parts;
    if (!time || ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    return (int64_t)timegm(&parts);
}

static pthread_once_t sha256_once = PTHREAD_ONCE_INIT;
static const EVP_MD *fetched_sha256;

static void fetch_sha256(void) { fetched_sha256 = EVP_MD_fetch(NULL, "SHA2-256", NULL); }

// OpenSSL 3 looks EVP_sha256() up anew at each use. This one is the process's, and is never freed.
static const EVP_MD *sha256(void) {
    pthread_once(&sha256_once, fetch_sha256);
    return fetched_sha256 ? fetched_sha256 : EVP_sha256();
}

static bool digest_public_key(X509 *certificate, uint8_t digest[CE_DIGEST_SIZE]) {
    // The whole SubjectPublicKeyInfo, algorithm included: a key is another key under another algorithm.
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
    // UTF-8, with control characters escaped, so that a name cannot forge lines of a log.
    X509_NAME_print_ex(bio, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    int read = BIO_read(bio, entry->subject, CE_TEXT_SIZE - 1);
    entry->subject[read > 0 ? read : 0] = 0;
    BIO_free(bio);
    return true;
}

bool ce_entry_fill(ce_chain_entry *entry, X509 *certificate) {
    return ce_entry_measure(entry, certificate) && ce_entry_name(entry, certificate);
}

static bool holds(const ce_digests *chain, unsigned count, const ce_pin *pin) {
    unsigned from = pin->scope == CE_PIN_ISSUER ? 1 : 0;
    unsigned to = pin->scope == CE_PIN_LEAF && count > 1 ? 1 : count;
    for (unsigned i = from; i < to; i++) {
        const uint8_t *digest = pin->kind == CE_PIN_CERTIFICATE ? chain[i].certificate : chain[i].public_key;
        if (memcmp(digest, pin->digest, CE_DIGEST_SIZE) == 0) return true;
    }
    return false;
}

bool ce_rule_refuses_now(const ce_trust *trust, size_t index) {
    if (index >= trust->rule_count) return true;
    const ce_rule *rule = &trust->rules[index];
    return rule->refuses_when_expired && rule->expires <= (int64_t)time(NULL);
}

ce_pin_outcome ce_pins_judge(const ce_trust *trust, size_t index, const ce_digests *chain, unsigned count) {
    if (index >= trust->rule_count) return CE_PINS_MISSED;
    const ce_rule *rule = &trust->rules[index];
    if (rule->pin_count == 0) return CE_PINS_MET;
    if (rule->expires != INT64_MAX && rule->expires <= (int64_t)time(NULL)) {
        return rule->refuses_when_expired ? CE_PINS_EXPIRED : CE_PINS_MET;
    }
    for (size_t i = 0; i < rule->pin_count; i++) {
        if (holds(chain, count, &trust->pins[rule->first_pin + i])) return CE_PINS_MET;
    }
    return rule->report_only ? CE_PINS_REPORTED : CE_PINS_MISSED;
}

int ce_inspect_pem(const char *pem, size_t size, ce_report *report, ce_trust_error *error) {
    *error = (ce_trust_error){.kind = CE_TRUST_OK};
    report->verdict = CE_VERDICT_NONE;
    report->chain_count = 0;
    STACK_OF(X509) *certificates = read_certificates(pem, size);
    if (!certificates) {
        fail(error, CE_TRUST_ANCHORS, "no certificate in the text");
        return -1;
    }
    int count = sk_X509_num(certificates);
    if (count > CE_CHAIN_MAXIMUM) count = CE_CHAIN_MAXIMUM;
    for (int i = 0; i < count; i++) {
        if (!ce_entry_fill(&report->chain[i], sk_X509_value(certificates, i))) {
            fail(error, CE_TRUST_ANCHORS, "a certificate could not be read");
            count = -1;
            break;
        }
        report->chain_count = (unsigned)i + 1;
    }
    sk_X509_pop_free(certificates, X509_free);
    return count;
}
