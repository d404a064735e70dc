// The fields of a response's head that say where its body ends.
#ifndef CE_HEAD_FRAMING_H
#define CE_HEAD_FRAMING_H

#include "../state/transfer_state.h"

// Whether a final head frames its body as HTTP allows. Notes how it does.
bool ce_head_framing_is_sound(ce_transfer *transfer);

#endif
