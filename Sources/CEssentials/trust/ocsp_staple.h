// Stapled certificate status.
#ifndef CE_OCSP_STAPLE_H
#define CE_OCSP_STAPLE_H

#include "trust.h"

#include <openssl/ssl.h>

// Whether the OCSP response that a server stapled, or its absence, is acceptable. If not, `report` says why.
bool ce_staple_is_good(SSL *ssl, const ce_trust *trust, ce_report *report);

#endif
