#include "chain_verification.h"

#include "../base/text.h"
#include "certificates.h"
#include "pins.h"
#include "system_anchors.h"

int ce_verify_refuse(X509_STORE_CTX *context, ce_report *report, ce_verdict verdict, int x509_error, const char *text) {
    report->verdict = verdict;
    report->x509_error = x509_error;
    ce_copy_text(report->text, CE_TEXT_SIZE, text);
    X509_STORE_CTX_set_error(context, x509_error);
    return 0;
}

static bool is_host_error(int error) {
    return error == X509_V_ERR_HOSTNAME_MISMATCH || error == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

static void record_chain(STACK_OF(X509) *chain, ce_report *report) {
    int count = sk_X509_num(chain);
    report->chain_count = 0;
    for (int i = 0; i < count && i < CE_CHAIN_MAXIMUM; i++) {
        if (!ce_entry_measure(&report->chain[i], sk_X509_value(chain, i))) return;
        report->chain_count++;
    }
}

// Names are recorded separately, because only people read them, and formatting them takes longer than the rest of the
// verification.
static void record_names(STACK_OF(X509) *chain, ce_report *report) {
    for (unsigned i = 0; i < report->chain_count; i++) ce_entry_name(&report->chain[i], sk_X509_value(chain, (int)i));
}

static bool expect_host(X509_STORE_CTX *context, const char *host, bool host_is_address) {
    X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);
    // The flags of the connection's context are replaced by those of the policy's store. The context may belong to an
    // application, which may have disabled the check of time or purpose.
    unsigned long flags = X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(X509_STORE_CTX_get0_store(context)));
    X509_VERIFY_PARAM_clear_flags(param, ~0ul);
    X509_VERIFY_PARAM_set_flags(param, flags | X509_V_FLAG_TRUSTED_FIRST);
    if (X509_VERIFY_PARAM_set_purpose(param, X509_PURPOSE_SSL_SERVER) != 1) return false;
    if (X509_VERIFY_PARAM_set_trust(param, X509_TRUST_SSL_SERVER) != 1) return false;
    if (X509_VERIFY_PARAM_get_auth_level(param) < CE_SECURITY_LEVEL) {
        X509_VERIFY_PARAM_set_auth_level(param, CE_SECURITY_LEVEL);
    }
    X509_VERIFY_PARAM_set_hostflags(
        param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    if (host_is_address) return X509_VERIFY_PARAM_set1_ip_asc(param, host) == 1;
    return X509_VERIFY_PARAM_set1_host(param, host, 0) == 1;
}

// Verifies the chain and returns the path that the verdict is about.
static int verify(X509_STORE_CTX *context, const ce_peer *peer, ce_report *report, STACK_OF(X509) **path) {
    if (!expect_host(context, peer->host, peer->host_is_address)) {
        return ce_verify_refuse(
            context, report, CE_VERDICT_INTERNAL, X509_V_ERR_UNSPECIFIED, "the host name could not be set");
    }
    bool valid = X509_verify_cert(context) == 1;
    int error = X509_STORE_CTX_get_error(context);
    // The verified path is preferred: the certificates that a server merely presents prove nothing.
    STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
    *path = chain ? chain : X509_STORE_CTX_get0_untrusted(context);
    record_chain(*path, report);
    if (!valid || error != X509_V_OK) {
        report->depth = X509_STORE_CTX_get_error_depth(context);
        if (error == X509_V_OK) error = X509_V_ERR_UNSPECIFIED;
        ce_verdict verdict = is_host_error(error)               ? CE_VERDICT_HOST
                             : error == X509_V_ERR_CERT_REVOKED ? CE_VERDICT_REVOKED
                                                                : CE_VERDICT_CHAIN;
        return ce_verify_refuse(context, report, verdict, error, X509_verify_cert_error_string(error));
    }
    if (report->chain_count != (unsigned)sk_X509_num(chain)) {
        return ce_verify_refuse(
            context, report, CE_VERDICT_CHAIN, X509_V_ERR_CERT_CHAIN_TOO_LONG, "the chain is too long");
    }
    ce_digests digests[CE_CHAIN_MAXIMUM];
    for (unsigned i = 0; i < report->chain_count; i++) digests[i] = report->chain[i].digests;
    ce_pin_outcome outcome = ce_pins_judge(peer->trust, peer->rule, digests, report->chain_count);
    if (outcome == CE_PINS_MISSED) {
        return ce_verify_refuse(
            context, report, CE_VERDICT_PINS, X509_V_ERR_APPLICATION_VERIFICATION, CE_NO_PIN_MATCHES);
    }
    if (outcome == CE_PINS_EXPIRED) {
        return ce_verify_refuse(
            context, report, CE_VERDICT_RULE_EXPIRED, X509_V_ERR_APPLICATION_VERIFICATION, CE_PINS_HAVE_EXPIRED);
    }
    report->missed_pins = outcome == CE_PINS_REPORTED;
    report->verdict = CE_VERDICT_TRUSTED;
    return 1;
}

int ce_verify(X509_STORE_CTX *context, const ce_peer *peer, bool names_trusted, ce_report *report) {
    STACK_OF(X509) *path = NULL;
    // An application's context is used for several handshakes.
    report->chain_count = 0;
    report->missed_pins = false;
    report->x509_error = report->depth = 0;
    int result = verify(context, peer, report, &path);
    if (path && (result != 1 || report->missed_pins || names_trusted)) record_names(path, report);
    return result;
}

// MARK: Chains without a connection

static STACK_OF(X509) *read_chain(const uint8_t *const *certificates, const size_t *sizes, size_t count) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    for (size_t i = 0; chain && i < count; i++) {
        const unsigned char *der = certificates[i];
        X509 *certificate = sizes[i] <= INT32_MAX ? d2i_X509(NULL, &der, (long)sizes[i]) : NULL;
        // Bytes after the certificate are not covered by its signature.
        bool is_whole = certificate && der == certificates[i] + sizes[i];
        if (is_whole && sk_X509_push(chain, certificate)) continue;
        X509_free(certificate);
        sk_X509_pop_free(chain, X509_free);
        return NULL;
    }
    return chain;
}

bool ce_trust_evaluate(
    ce_trust *trust, size_t rule, const char *host, bool host_is_address, const uint8_t *const *certificates,
    const size_t *sizes, size_t count, ce_report *report) {
    ce_peer peer = {trust, rule, host, host_is_address};
    STACK_OF(X509) *chain = read_chain(certificates, sizes, count);
    X509_STORE_CTX *context = chain && count ? X509_STORE_CTX_new() : NULL;
    bool is_trusted = false;
    report->verdict = CE_VERDICT_INTERNAL;
    report->chain_count = 0;
    ce_copy_text(report->text, CE_TEXT_SIZE, "a certificate could not be read");
    if (context && ce_trust_load_anchors(trust, report) &&
        X509_STORE_CTX_init(context, trust->store, sk_X509_value(chain, 0), chain) == 1 &&
        X509_STORE_CTX_set_default(context, "ssl_server") == 1) {
        is_trusted = ce_verify(context, &peer, true, report) == 1;
    }
    X509_STORE_CTX_free(context);
    sk_X509_pop_free(chain, X509_free);
    return is_trusted;
}
