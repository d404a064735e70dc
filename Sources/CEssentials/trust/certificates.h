// Certificates: reading PEM texts, digests and names.
#ifndef CE_CERTIFICATES_H
#define CE_CERTIFICATES_H

#include "CEssentials.h"

#include <openssl/x509v3.h>

// Reads certificates until the text ends. NULL if one is damaged or there is none.
STACK_OF(X509) *ce_certificates_read(const char *pem, size_t size);
// A passphrase callback without a passphrase, so that OpenSSL never asks for one on the terminal.
int ce_no_passphrase(char *buffer, int size, int writing, void *user);

// Writes the digests and the validity of a certificate.
bool ce_entry_measure(ce_chain_entry *entry, X509 *certificate);
// Writes the subject of a certificate.
bool ce_entry_name(ce_chain_entry *entry, X509 *certificate);
// Writes the digests, the validity and the subject.
bool ce_entry_fill(ce_chain_entry *entry, X509 *certificate);

// Writes OpenSSL's last error, or the fallback if there is none, and clears OpenSSL's errors.
void ce_openssl_text(char text[CE_TEXT_SIZE], const char *fallback);
// Fills `error` with OpenSSL's last error, or the fallback. Always false.
bool ce_trust_fail(ce_trust_error *error, ce_trust_error_kind kind, const char *fallback);

#endif
