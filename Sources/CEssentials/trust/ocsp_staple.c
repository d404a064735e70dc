// The certificate status that a server staples to its handshake (RFC 6066, 8; RFC 6960). OpenSSL calls for its check
// after the chain was verified and before the client sends a certificate or a request.
#include "ocsp_staple.h"

#include "../base/text.h"

#include <openssl/ocsp.h>

enum {
    CLOCK_TOLERANCE_S = 300,
    // The maximum age of a response without an end of validity.
    LONGEST_LIFE_S = 7 * 24 * 3600,
    // The bytes of the shortest digest that meets the security level: SHA-224.
    SHORTEST_DIGEST = 28,
};

static bool refuse(ce_report *report, ce_verdict verdict, const char *text) {
    report->verdict = verdict;
    report->x509_error = verdict == CE_VERDICT_REVOKED ? X509_V_ERR_CERT_REVOKED : X509_V_ERR_OCSP_VERIFY_FAILED;
    report->depth = 0;
    ce_copy_text(report->text, CE_TEXT_SIZE, text);
    return false;
}

// Responders choose the digest by which they name a certificate, so each single response is compared with its own
// digest.
static bool is_about(const OCSP_CERTID *id, X509 *certificate, X509 *issuer) {
    ASN1_OBJECT *algorithm = NULL;
    if (OCSP_id_get0_info(NULL, &algorithm, NULL, NULL, (OCSP_CERTID *)id) != 1) return false;
    const EVP_MD *digest = EVP_get_digestbyobj(algorithm);
    OCSP_CERTID *wanted = digest ? OCSP_cert_to_id(digest, certificate, issuer) : NULL;
    bool is_same = wanted && OCSP_id_cmp(wanted, id) == 0;
    OCSP_CERTID_free(wanted);
    return is_same;
}

// OpenSSL checks the strength of the signatures on certificates, but not of this one.
static bool has_weak_digest(const OCSP_BASICRESP *responses) {
    const ASN1_OBJECT *algorithm = NULL;
    X509_ALGOR_get0(&algorithm, NULL, NULL, OCSP_resp_get0_tbs_sigalg(responses));
    int digest = NID_undef;
    if (OBJ_find_sigid_algs(OBJ_obj2nid(algorithm), &digest, NULL) != 1) return true;
    // Some signature algorithms include their digest, which is strong.
    const EVP_MD *known = digest == NID_undef ? NULL : EVP_get_digestbynid(digest);
    return known && EVP_MD_get_size(known) < SHORTEST_DIGEST;
}

static bool judge(OCSP_BASICRESP *responses, X509 *certificate, X509 *issuer, ce_report *report) {
    for (int i = 0; i < OCSP_resp_count(responses); i++) {
        OCSP_SINGLERESP *single = OCSP_resp_get0(responses, i);
        if (!is_about(OCSP_SINGLERESP_get0_id(single), certificate, issuer)) continue;
        ASN1_GENERALIZEDTIME *begin = NULL, *end = NULL;
        int status = OCSP_single_get0_status(single, NULL, NULL, &begin, &end);
        if (OCSP_check_validity(begin, end, CLOCK_TOLERANCE_S, end ? -1 : LONGEST_LIFE_S) != 1) {
            return refuse(report, CE_VERDICT_STAPLE, "the stapled OCSP response has expired or is not valid yet");
        }
        if (status == V_OCSP_CERTSTATUS_GOOD) return true;
        if (status == V_OCSP_CERTSTATUS_REVOKED) {
            return refuse(report, CE_VERDICT_REVOKED, "the stapled OCSP response says so");
        }
        return refuse(report, CE_VERDICT_STAPLE, "the OCSP responder does not know the certificate");
    }
    return refuse(report, CE_VERDICT_STAPLE, "the stapled OCSP response is about another certificate");
}

bool ce_staple_is_good(SSL *ssl, const ce_trust *trust, ce_report *report) {
    const unsigned char *der = NULL;
    long size = SSL_get_tlsext_status_ocsp_resp(ssl, &der);
    if (size <= 0 || !der) {
        if (trust->staple != CE_STAPLE_REQUIRED) return true;
        return refuse(report, CE_VERDICT_STAPLE, "the server stapled no OCSP response");
    }
    STACK_OF(X509) *chain = SSL_get0_verified_chain(ssl);
    X509 *leaf = chain && sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : NULL;
    // A self-signed anchor is its own issuer.
    X509 *issuer = chain && sk_X509_num(chain) > 1 ? sk_X509_value(chain, 1) : leaf;
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &der, size);
    OCSP_BASICRESP *responses = NULL;
    if (response && OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL) {
        responses = OCSP_response_get1_basic(response);
    }
    bool is_good = false;
    if (!leaf || !responses) {
        refuse(report, CE_VERDICT_STAPLE, "the stapled OCSP response cannot be read");
    } else if (OCSP_basic_verify(responses, chain, trust->store, 0) != 1) {
        refuse(report, CE_VERDICT_STAPLE, "the stapled OCSP response is not signed by the certificate's issuer");
    } else if (has_weak_digest(responses)) {
        refuse(report, CE_VERDICT_STAPLE, "the digest that the stapled OCSP response is signed by is too weak");
    } else {
        is_good = judge(responses, leaf, issuer, report);
    }
    OCSP_BASICRESP_free(responses);
    OCSP_RESPONSE_free(response);
    return is_good;
}
