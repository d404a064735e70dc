// Monotonic time.
#ifndef CE_CLOCK_H
#define CE_CLOCK_H

#include "CEssentials.h"

// `ce_now_ms` is public.
int64_t ce_now_us(void);

#endif
