#include "touched.h"

void ce_transfer_touch(ce_transfer *transfer) {
    if (transfer->touched || !transfer->multi) return;
    ce_loop *loop = transfer->multi->loop;
    transfer->touched = true;
    transfer->next_touched = NULL;
    if (loop->touched_last) loop->touched_last->next_touched = transfer;
    else loop->touched_first = transfer;
    loop->touched_last = transfer;
}
void ce_transfer_untouch(ce_transfer *transfer) {
    if (!transfer->touched) return;
    ce_loop *loop = transfer->multi->loop;
    ce_transfer *previous = NULL;
    for (ce_transfer *item = loop->touched_first; item; previous = item, item = item->next_touched) {
        if (item != transfer) continue;
        if (previous) previous->next_touched = item->next_touched;
        else loop->touched_first = item->next_touched;
        if (loop->touched_last == item) loop->touched_last = previous;
        break;
    }
    transfer->touched = false;
}
ce_transfer *ce_loop_next_touched(ce_loop *loop) {
    ce_transfer *transfer = loop->touched_first;
    if (!transfer) return NULL;
    loop->touched_first = transfer->next_touched;
    if (!loop->touched_first) loop->touched_last = NULL;
    transfer->touched = false;
    transfer->next_touched = NULL;
    return transfer;
}
