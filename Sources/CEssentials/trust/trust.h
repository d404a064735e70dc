// A trust policy compiled for OpenSSL.
#ifndef CE_TRUST_H
#define CE_TRUST_H

#include "CEssentials.h"

#include <openssl/x509v3.h>
#include <stdatomic.h>

struct ce_trust {
    atomic_uint references;
    uint64_t identity;  // unique in the process: evidence made under one policy never serves another
    X509_STORE *store;  // lacks the system's bundle until `has_anchors` is set
    char *system_file;  // path of the bundle; NULL for none
    atomic_bool has_anchors;
    X509 *identity_certificate;
    STACK_OF(X509) *identity_chain;
    EVP_PKEY *identity_key;
    ce_pin *pins;
    ce_rule *rules;
    size_t rule_count;
    int staple; // ce_staple
    int minimum_tls;
};

// A TLS peer, and the rule by which it is judged.
typedef struct ce_peer {
    ce_trust *trust;
    size_t rule; // index in the trust's rules
    const char *host;
    bool host_is_address;
} ce_peer;

// Keys and digests need 112 bits of security, whatever level the system's OpenSSL is configured for.
enum { CE_SECURITY_LEVEL = 2 };

void ce_trust_retain(ce_trust *trust);

#endif
