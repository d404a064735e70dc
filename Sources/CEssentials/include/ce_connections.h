/// The connections of an engine thread as numbers. Only its thread calls these functions.
#ifndef CE_CONNECTIONS_H
#define CE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ce_loop ce_loop;

/// An open connection that has carried a request. The text is valid until the loop runs again.
typedef struct ce_open_connection {
    const char *_Nullable origin; // never NULL once it was filled; of the request that opened it
    bool http2;
    unsigned served;  // the number of requests that it has carried
    unsigned running; // the number of requests that it carries now
    int64_t opened_ms; // monotonic
} ce_open_connection;

/// A connection that has carried its first request, or that was closed.
typedef struct ce_connection_change {
    char *_Nonnull origin; // of the request that opened it
    bool http2;
    bool closed;
    int64_t lifetime_ms; // of a connection that was closed
    unsigned served;
} ce_connection_change;

/// How many connections have carried a first request, and how many of them were closed.
typedef struct ce_connection_counts {
    uint64_t opened, closed;
} ce_connection_counts;

/// The next open connection, beginning with the place 0. False if there is none. A walk visits all descriptors.
bool ce_loop_next_connection(const ce_loop *_Nonnull loop, size_t *_Nonnull place, ce_open_connection *_Nonnull connection);
ce_connection_counts ce_loop_connection_counts(const ce_loop *_Nonnull loop);
/// What has changed since `ce_loop_forget_changes`, if the settings want to know. Valid until the loop runs again.
size_t ce_loop_change_count(const ce_loop *_Nonnull loop);
const ce_connection_change *_Nullable ce_loop_changes(const ce_loop *_Nonnull loop);
void ce_loop_forget_changes(ce_loop *_Nonnull loop);

#endif
