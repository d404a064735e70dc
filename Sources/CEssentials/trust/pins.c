#include "pins.h"

#include <string.h>
#include <time.h>

// The index of the certificate that has the pin, or `count`.
static unsigned place_of(const ce_pin *pin, const ce_digests *chain, unsigned count) {
    unsigned from = pin->scope == CE_PIN_ISSUER ? 1 : 0;
    unsigned to = pin->scope == CE_PIN_LEAF && count > 1 ? 1 : count;
    for (unsigned i = from; i < to; i++) {
        const uint8_t *digest = pin->kind == CE_PIN_CERTIFICATE ? chain[i].certificate : chain[i].public_key;
        if (memcmp(digest, pin->digest, CE_DIGEST_SIZE) == 0) return i;
    }
    return count;
}

ce_match ce_pins_match(const ce_trust *trust, size_t index, const ce_digests *chain, unsigned count) {
    const ce_rule *rule = index < trust->rule_count ? &trust->rules[index] : NULL;
    for (size_t i = 0; rule && i < rule->pin_count; i++) {
        unsigned depth = place_of(&trust->pins[rule->first_pin + i], chain, count);
        if (depth < count) return (ce_match){true, (unsigned)i, depth};
    }
    return (ce_match){false, 0, 0};
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
    if (ce_pins_match(trust, index, chain, count).is_found) return CE_PINS_MET;
    return rule->report_only ? CE_PINS_REPORTED : CE_PINS_MISSED;
}
