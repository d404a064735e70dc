// The list of transfers that need the engine's attention after a step.
#ifndef CE_TOUCHED_H
#define CE_TOUCHED_H

#include "transfer_state.h"

// Appends a transfer unless it is in the list already.
void ce_transfer_touch(ce_transfer *transfer);
// Removes a transfer from the list if it is there.
void ce_transfer_untouch(ce_transfer *transfer);

#endif
