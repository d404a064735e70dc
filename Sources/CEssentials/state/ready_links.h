// Links, and the loop's list of those whose sockets had events. The functions of links are in link/.
#ifndef CE_READY_LINKS_H
#define CE_READY_LINKS_H

#include "loop_state.h"

struct ce_link {
    ce_loop *loop;
    ce_multi *multi;
    ce_transfer *transfer;
    void *owner;
    int fd; // -1 until the link is open
    bool has_received;
    bool is_ready;
    ce_link *next_ready;
};

// Takes a link out of the list.
void ce_link_leave_ready(ce_link *link);

#endif
