// Counts connections and their requests. libcurl does not show which connection a request is sent on, so the request gate
// finds it by its two addresses. A socket counts as a connection from its first request, so that one that was only tried,
// or whose peer was refused, does not.
#include "carried_requests.h"

#include "../base/clock.h"

#include <stdlib.h>
#include <string.h>

// Takes the text. Without memory the change is left out. The numbers of openings and closings count it nevertheless.
static void note(ce_loop *loop, ce_connection_change change) {
    struct ce_changes *changes = &loop->changes;
    if (changes->count == changes->capacity) {
        size_t capacity = changes->capacity ? 2 * changes->capacity : 16;
        ce_connection_change *all = realloc(changes->all, capacity * sizeof *all);
        if (!all) {
            free(change.origin);
            return;
        }
        changes->all = all;
        changes->capacity = capacity;
    }
    changes->all[changes->count++] = change;
}

static bool open_connection(ce_loop *loop, struct ce_socket *entry, const ce_transfer *transfer) {
    entry->origin = transfer->origin ? strdup(transfer->origin) : NULL;
    if (!entry->origin) return false;
    loop->openings++;
    if (!loop->settings.notes_connections) return true;
    ce_connection_change change = {.origin = strdup(entry->origin), .http2 = entry->speaks_http2};
    if (change.origin) note(loop, change);
    return true;
}

void ce_socket_carry(ce_transfer *transfer, int fd) {
    ce_loop *loop = transfer->handle.multi->loop;
    ce_socket_leave(transfer);
    if (fd < 0 || (size_t)fd >= loop->socket_count) return;
    struct ce_socket *entry = &loop->sockets[fd];
    // The functions of sockets.c need it even if there is no memory for the origin.
    if (transfer->run.gates.speaks_http2) entry->speaks_http2 = true;
    if (!entry->ours || (!entry->origin && !open_connection(loop, entry, transfer))) return;
    entry->served++;
    entry->running++;
    transfer->run.carrying = fd + 1;
    transfer->run.carrying_generation = entry->generation;
}

void ce_socket_leave(ce_transfer *transfer) {
    ce_run *run = &transfer->run;
    if (!run->carrying) return;
    ce_loop *loop = transfer->handle.multi->loop;
    struct ce_socket *entry = &loop->sockets[run->carrying - 1];
    run->carrying = 0;
    // The connection may have been closed, and its number used again.
    if (entry->generation != run->carrying_generation || entry->running == 0) return;
    entry->running--;
}

void ce_socket_note_closed(ce_loop *loop, int fd) {
    struct ce_socket *entry = &loop->sockets[fd];
    if (!entry->origin) return;
    loop->closings++;
    if (loop->settings.notes_connections) {
        note(loop, (ce_connection_change){
                       .origin = entry->origin,
                       .http2 = entry->speaks_http2,
                       .closed = true,
                       .lifetime_ms = ce_now_ms() - entry->opened_ms,
                       .served = entry->served,
                   });
    } else {
        free(entry->origin);
    }
    entry->origin = NULL;
}

void ce_sockets_free_counts(ce_loop *loop) {
    for (size_t fd = 0; fd < loop->socket_count; fd++) free(loop->sockets[fd].origin);
    for (size_t i = 0; i < loop->changes.count; i++) free(loop->changes.all[i].origin);
    free(loop->changes.all);
}

// MARK: Read

bool ce_loop_next_connection(const ce_loop *loop, size_t *place, ce_open_connection *connection) {
    while (*place < loop->socket_count) {
        const struct ce_socket *entry = &loop->sockets[(*place)++];
        if (!entry->origin) continue;
        *connection = (ce_open_connection){
            .origin = entry->origin,
            .http2 = entry->speaks_http2,
            .served = entry->served,
            .running = entry->running,
            .opened_ms = entry->opened_ms,
        };
        return true;
    }
    return false;
}

ce_connection_counts ce_loop_connection_counts(const ce_loop *loop) {
    return (ce_connection_counts){loop->openings, loop->closings};
}

size_t ce_loop_change_count(const ce_loop *loop) { return loop->changes.count; }
const ce_connection_change *ce_loop_changes(const ce_loop *loop) { return loop->changes.all; }

void ce_loop_forget_changes(ce_loop *loop) {
    for (size_t i = 0; i < loop->changes.count; i++) free(loop->changes.all[i].origin);
    loop->changes.count = 0;
}
