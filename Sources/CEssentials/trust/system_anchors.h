// The system's bundle of anchors.
#ifndef CE_SYSTEM_ANCHORS_H
#define CE_SYSTEM_ANCHORS_H

#include "trust.h"

// Adds the system's bundle, if the policy uses one, to the policy's store. Must be called before the store is used.
// False, with a verdict in `report`, if the bundle cannot be read. Any thread.
bool ce_trust_load_anchors(ce_trust *trust, ce_report *report);

#endif
