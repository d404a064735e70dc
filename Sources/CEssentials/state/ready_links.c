#include "ready_links.h"

void ce_link_note(ce_link *link) {
    if (link->is_ready) return;
    link->is_ready = true;
    link->next_ready = NULL;
    ce_link **place = &link->loop->ready_links;
    while (*place) place = &(*place)->next_ready;
    *place = link;
}

void ce_link_leave_ready(ce_link *link) {
    if (!link->is_ready) return;
    ce_link **place = &link->loop->ready_links;
    while (*place && *place != link) place = &(*place)->next_ready;
    if (*place) *place = link->next_ready;
    link->is_ready = false;
}

ce_link *ce_loop_next_ready_link(ce_loop *loop) {
    ce_link *link = loop->ready_links;
    if (link) ce_link_leave_ready(link);
    return link;
}

bool ce_loop_has_ready_link(const ce_loop *loop) { return loop->ready_links != NULL; }
