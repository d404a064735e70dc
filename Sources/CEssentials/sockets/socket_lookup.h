// Finds the descriptor of a connection by its two addresses. Engine thread.
#ifndef CE_SOCKET_LOOKUP_H
#define CE_SOCKET_LOOKUP_H

#include "../state/transfer_state.h"

// The two ends of a connection.
typedef struct ce_route {
    const char *remote, *local;
    int remote_port, local_port;
} ce_route;

// The descriptor of a connection, or -1 if it is not known.
int ce_route_find(ce_loop *loop, const ce_route *route);
// Notes the addresses of a connection of `transfer` that is not known yet. Returns its descriptor, or -1 if there is none.
int ce_route_learn(ce_transfer *transfer, const ce_route *route);
// Must be called when the descriptor is closed.
void ce_route_forget(ce_loop *loop, int fd);

#endif
