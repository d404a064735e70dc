// Refuses lines of a response's head and trailers.
#ifndef CE_HEAD_REFUSALS_H
#define CE_HEAD_REFUSALS_H

#include "../state/transfer_state.h"

// Counts and judges a line of a head or of trailers.
ce_refusal ce_head_line_judge(ce_transfer *transfer, const char *line, size_t count);

#endif
