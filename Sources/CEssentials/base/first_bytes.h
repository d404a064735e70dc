// Recognises the protocol of a peer by its first bytes, which are never kept.
#ifndef CE_FIRST_BYTES_H
#define CE_FIRST_BYTES_H

#include "CEssentials.h"

// Needs five bytes to recognise a protocol. Fewer bytes give CE_SPEAKS_UNKNOWN.
ce_spoken ce_first_bytes_judge(const void *bytes, size_t count);

#endif
