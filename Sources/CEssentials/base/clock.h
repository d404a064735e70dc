// Monotonic time.
#ifndef CE_CLOCK_H
#define CE_CLOCK_H

#include "CEssentials.h"

// Monotonic microseconds. `ce_now_ms` is in the public header.
int64_t ce_now_us(void);

#endif
