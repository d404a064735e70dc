// The findings of the trust gates about a peer. CEssentials.h includes this header.
#ifndef CE_REPORT_H
#define CE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

enum { CE_DIGEST_SIZE = 32, CE_CHAIN_MAXIMUM = 12, CE_TEXT_SIZE = 192, CE_HOST_SIZE = 256 };

typedef enum ce_verdict {
    CE_VERDICT_NONE = 0,
    CE_VERDICT_TRUSTED,
    CE_VERDICT_CHAIN,
    CE_VERDICT_HOST,
    CE_VERDICT_PINS,
    CE_VERDICT_PEER,
    CE_VERDICT_OTHER_TRUST,
    CE_VERDICT_TLS_TOO_OLD,
    CE_VERDICT_EVIDENCE,
    CE_VERDICT_EXPIRED,
    CE_VERDICT_PLAINTEXT,
    CE_VERDICT_REVOKED,
    CE_VERDICT_STAPLE,
    CE_VERDICT_RULE_EXPIRED,
    CE_VERDICT_ANCHORS, // the system's bundle could not be read
    CE_VERDICT_INTERNAL,
} ce_verdict;

/// The protocol of a peer, according to its first bytes.
typedef enum ce_spoken {
    CE_SPEAKS_NOTHING = 0, // it has sent nothing
    CE_SPEAKS_UNKNOWN,
    CE_SPEAKS_TLS,
    CE_SPEAKS_HTTP,
    CE_SPEAKS_SSH,
    CE_SPEAKS_MAIL, // the greeting of a mail or FTP server
} ce_spoken;

typedef struct ce_digests {
    uint8_t certificate[CE_DIGEST_SIZE]; // SHA-256 of the DER certificate
    uint8_t public_key[CE_DIGEST_SIZE];  // SHA-256 of the DER SubjectPublicKeyInfo
} ce_digests;

typedef struct ce_chain_entry {
    ce_digests digests;
    int64_t not_before; // seconds since 1970
    int64_t not_after;
    char subject[CE_TEXT_SIZE];
} ce_chain_entry;

/// The pin that a verified chain matched.
typedef struct ce_match {
    bool is_found;
    unsigned pin;   // index in the pins of the rule
    unsigned depth; // index of the certificate in the chain
} ce_match;

typedef struct ce_report {
    ce_verdict verdict;
    int x509_error;
    int depth;
    char text[CE_TEXT_SIZE];
    bool missed_pins; // no pin matched, and the rule only reports that
    ce_match match;   // recorded for requests with `records_trust`
    ce_spoken spoken;   // according to the first bytes of the handshake, for messages only
    int server_version; // in the ServerHello: 0x0302 for TLS 1.1, 0x0303 for later versions; 0 without a ServerHello
    int minimum_tls;    // the version that the handshake required, such as 0x0303 for TLS 1.2
    unsigned chain_count;
    ce_chain_entry chain[CE_CHAIN_MAXIMUM]; // the verified path, or the certificates of a refused chain
} ce_report;

#endif
