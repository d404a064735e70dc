// The connections of an engine thread as numbers: for which origin each was opened, and how many requests it carries.
// Engine thread.
#ifndef CE_CARRIED_REQUESTS_H
#define CE_CARRIED_REQUESTS_H

#include "../state/transfer_state.h"

// Notes that a transfer is about to send its request on a connection, and on no other one. -1 for an unknown one.
void ce_socket_carry(ce_transfer *transfer, int fd);
// Notes that the transfer has no connection any more. It may be called without one.
void ce_socket_leave(ce_transfer *transfer);
// Must be called when the descriptor is closed.
void ce_socket_note_closed(ce_loop *loop, int fd);
// Releases what is kept of all connections, before the loop is.
void ce_sockets_free_counts(ce_loop *loop);

#endif
