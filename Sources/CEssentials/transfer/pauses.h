// Pausing and resuming the two directions of a transfer.
#ifndef CE_PAUSES_H
#define CE_PAUSES_H

#include "../state/transfer_state.h"

// Applies the transfer's pauses to libcurl. Resuming may call the write or read callback at once. Returns the CURLcode.
int ce_transfer_apply_pauses(ce_transfer *transfer);

#endif
