// The judgement of a certificate chain: path, host name and pins.
#ifndef CE_CHAIN_VERIFICATION_H
#define CE_CHAIN_VERIFICATION_H

#include "trust.h"

// Verifies the chain of `context` for a peer and fills `report`. The result is 1 if the chain is trusted, otherwise 0.
// Certificate names are recorded if the chain is refused, if it lacks pins, or if `names_trusted` is true.
int ce_verify(X509_STORE_CTX *context, const ce_peer *peer, bool names_trusted, ce_report *report);
// Writes a refusal into the report and the context. Always 0.
int ce_verify_refuse(
    X509_STORE_CTX *context, ce_report *report, ce_verdict verdict, int x509_error, const char *text);

#endif
