// Pins of a rule, judged against a verified chain.
#ifndef CE_PINS_H
#define CE_PINS_H

#include "trust.h"

#define CE_NO_PIN_MATCHES "no pin matches the verified chain"
#define CE_PINS_HAVE_EXPIRED "the pins have expired"

typedef enum ce_pin_outcome { CE_PINS_MET, CE_PINS_MISSED, CE_PINS_REPORTED, CE_PINS_EXPIRED } ce_pin_outcome;

// Whether a rule has expired and refuses its hosts since then. True if there is no such rule.
bool ce_rule_refuses_now(const ce_trust *trust, size_t rule);
// The first pin of a rule that a verified chain matches, whether or not the pins have expired.
ce_match ce_pins_match(const ce_trust *trust, size_t rule, const ce_digests *chain, unsigned count);
// Judges a verified chain by a rule. CE_PINS_MISSED if there is no such rule.
ce_pin_outcome ce_pins_judge(const ce_trust *trust, size_t rule, const ce_digests *chain, unsigned count);

#endif
