// What verifying a chain costs with OpenSSL alone: the floor of a trust policy's judgement.
#ifndef TRUST_FLOOR_H
#define TRUST_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trust_floor trust_floor;

/// Reads an anchor from PEM. NULL when it cannot be read. The caller destroys it.
trust_floor *trust_floor_create(const char *anchor_pem, size_t size);
void trust_floor_destroy(trust_floor *floor);
/// Parses two DER certificates and verifies them as a server's chain for a host.
bool trust_floor_verify(
    trust_floor *floor, const uint8_t *leaf, size_t leaf_size, const uint8_t *issuer, size_t issuer_size,
    const char *host);

#endif
