// Compiles a trust policy: anchors, revocation lists, client identity and pins.
#include "trust.h"

#include "certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

static atomic_uint_fast64_t next_identity = 1;
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

static bool add_explicit_anchors(ce_trust *trust, const ce_trust_config *config, ce_trust_error *error) {
    if (!config->anchors_pem) return true;
    STACK_OF(X509) *anchors = ce_certificates_read(config->anchors_pem, config->anchors_pem_size);
    if (!anchors) return ce_trust_fail(error, CE_TRUST_ANCHORS, "no certificate in the text");
    bool added = true, partial = false;
    for (int i = 0; added && i < sk_X509_num(anchors); i++) {
        X509 *anchor = sk_X509_value(anchors, i);
        added = X509_STORE_add_cert(trust->store, anchor) == 1;
        partial = partial || X509_self_signed(anchor, 0) != 1;
    }
    sk_X509_pop_free(anchors, X509_free);
    if (!added) return ce_trust_fail(error, CE_TRUST_ANCHORS, "a certificate could not be added to the store");
    // A path may end below a root only if the caller named such a certificate as an anchor.
    if (partial) X509_STORE_set_flags(trust->store, X509_V_FLAG_PARTIAL_CHAIN);
    return true;
}

static bool add_system_anchors(ce_trust *trust, const ce_trust_config *config, ce_trust_error *error) {
    // The bundle is read for the first handshake: see system_anchors.c.
    if (config->system_file && !(trust->system_file = strdup(config->system_file))) {
        return ce_trust_fail(error, CE_TRUST_OUT_OF_MEMORY, "out of memory");
    }
    // OpenSSL reads a hashed directory by name when a chain needs an anchor, and the store keeps the result.
    if (config->system_directory && X509_STORE_load_path(trust->store, config->system_directory) != 1) {
        return ce_trust_fail(error, CE_TRUST_SYSTEM_ANCHORS, "the directory could not be used");
    }
    return true;
}

// MARK: Revocation

// The reason why OpenSSL would silently ignore a list and every revocation in it, or NULL if OpenSSL uses the list.
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
        X509_CRL *list = PEM_read_bio_X509_CRL(bio, NULL, ce_no_passphrase, NULL);
        if (!list) break;
        passed_over = why_passed_over(list);
        added = X509_STORE_add_crl(trust->store, list) == 1;
        X509_CRL_free(list);
        count++;
    }
    BIO_free(bio);
    if (passed_over) {
        ERR_clear_error();
        return ce_trust_fail(error, CE_TRUST_REVOCATION_SCOPE, passed_over);
    }
    unsigned long last = ERR_peek_last_error();
    bool at_end = ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
    if (!added || !at_end || count == 0) {
        return ce_trust_fail(error, CE_TRUST_REVOCATION, "no revocation list in the text");
    }
    ERR_clear_error();
    X509_STORE_set_flags(trust->store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
    return true;
}

// MARK: Client identity

static bool read_identity(ce_trust *trust, const ce_trust_config *config, ce_trust_error *error) {
    if (!config->identity_certificate_pem) return true;
    trust->identity_chain =
        ce_certificates_read(config->identity_certificate_pem, config->identity_certificate_pem_size);
    if (!trust->identity_chain) {
        return ce_trust_fail(error, CE_TRUST_IDENTITY_CERTIFICATE, "no certificate in the text");
    }
    trust->identity_certificate = sk_X509_shift(trust->identity_chain);
    if (!config->identity_key_pem || config->identity_key_pem_size > INT32_MAX) {
        return ce_trust_fail(error, CE_TRUST_IDENTITY_KEY, "no private key in the text");
    }
    BIO *bio = BIO_new_mem_buf(config->identity_key_pem, (int)config->identity_key_pem_size);
    if (bio) trust->identity_key = PEM_read_bio_PrivateKey(bio, NULL, given_passphrase, (void *)config->passphrase);
    BIO_free(bio);
    if (!trust->identity_key && config->passphrase) {
        return ce_trust_fail(error, CE_TRUST_PASSPHRASE, "the key could not be decrypted");
    }
    if (!trust->identity_key) return ce_trust_fail(error, CE_TRUST_IDENTITY_KEY, "no private key in the text");
    if (X509_check_private_key(trust->identity_certificate, trust->identity_key) != 1) {
        return ce_trust_fail(error, CE_TRUST_IDENTITY_MISMATCH, "the key does not belong to the certificate");
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
        ce_trust_fail(error, CE_TRUST_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    atomic_init(&trust->references, 1);
    trust->identity = atomic_fetch_add(&next_identity, 1);
    trust->minimum_tls = config->minimum_tls;
    trust->store = X509_STORE_new();
    if (!trust->store || !copy_rules(trust, config)) {
        ce_trust_fail(error, CE_TRUST_OUT_OF_MEMORY, "out of memory");
        ce_trust_release(trust);
        return NULL;
    }
    X509_STORE_set_flags(trust->store, X509_V_FLAG_TRUSTED_FIRST);
    // This level applies to the chains of OCSP responders. A handshake sets its own level, which the gate raises.
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_get0_param(trust->store), CE_SECURITY_LEVEL);
    if (add_system_anchors(trust, config, error) && add_explicit_anchors(trust, config, error) &&
        add_revocation_lists(trust, config, error) && read_identity(trust, config, error)) {
        return trust;
    }
    ce_trust_release(trust);
    return NULL;
}
