#include "touched.h"

void ce_transfer_touch(ce_transfer *transfer) {
    ce_places *places = &transfer->places;
    if (places->touched || !transfer->handle.multi) return;
    ce_loop *loop = transfer->handle.multi->loop;
    places->touched = true;
    places->next_touched = NULL;
    if (loop->touched_last) loop->touched_last->places.next_touched = transfer;
    else loop->touched_first = transfer;
    loop->touched_last = transfer;
}

void ce_transfer_untouch(ce_transfer *transfer) {
    if (!transfer->places.touched) return;
    ce_loop *loop = transfer->handle.multi->loop;
    ce_transfer *previous = NULL;
    for (ce_transfer *item = loop->touched_first; item; previous = item, item = item->places.next_touched) {
        if (item != transfer) continue;
        if (previous) previous->places.next_touched = item->places.next_touched;
        else loop->touched_first = item->places.next_touched;
        if (loop->touched_last == item) loop->touched_last = previous;
        break;
    }
    transfer->places.touched = false;
}

ce_transfer *ce_loop_next_touched(ce_loop *loop) {
    ce_transfer *transfer = loop->touched_first;
    if (!transfer) return NULL;
    loop->touched_first = transfer->places.next_touched;
    if (!loop->touched_first) loop->touched_last = NULL;
    transfer->places.touched = false;
    transfer->places.next_touched = NULL;
    return transfer;
}
