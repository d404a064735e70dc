/// Connections that libcurl opens and that carry bytes of the caller's own protocol. Only the engine's thread calls these
/// functions.
#ifndef CE_LINKS_H
#define CE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ce_link ce_link;
typedef struct ce_loop ce_loop;
typedef struct ce_request ce_request;
typedef struct ce_transfer ce_transfer;
typedef struct ce_trust ce_trust;

typedef enum ce_link_result {
    CE_LINK_MOVED,   // at least one byte
    CE_LINK_BLOCKED, // nothing can be moved now
    CE_LINK_ENDED,   // the peer has closed the connection
    CE_LINK_FAILED,  // see the code
} ce_link_result;

/// Creates a connection for a protocol of the caller's. Both trusts are retained. NULL without memory.
ce_link *_Nullable ce_link_create(
    ce_loop *_Nonnull loop, ce_trust *_Nonnull trust, ce_trust *_Nullable proxy_trust);
/// Closes the connection at once. Does not wait for a name that is being resolved.
void ce_link_destroy(ce_link *_Nullable link);
/// Starts to connect to the peer of a request, of which only the options of the connection are used. Called once. The
/// result is the name of the option that libcurl refused, with libcurl's code, or NULL with the CURLMcode.
const char *_Nullable ce_link_open(
    ce_link *_Nonnull link, const ce_request *_Nonnull request, int *_Nonnull curl_code, int *_Nonnull multi_code);
/// Whether connecting has ended since the last call. With the code 0 the link is open. It is not watched yet.
bool ce_link_has_ended_opening(ce_link *_Nonnull link, int *_Nonnull curl_code);

void ce_link_set_owner(ce_link *_Nonnull link, void *_Nullable owner);
void *_Nullable ce_link_owner(const ce_link *_Nonnull link);
/// The transfer that reports on the connection. It belongs to the link.
ce_transfer *_Nonnull ce_link_transfer(const ce_link *_Nonnull link);

/// Sets what an open link waits for. False if epoll fails.
bool ce_link_watch(ce_link *_Nonnull link, bool reads, bool writes);
/// Lets `ce_loop_next_ready_link` return the link, because TLS may hold bytes that no event reports.
void ce_link_note(ce_link *_Nonnull link);
/// The next open link whose socket had an event, or NULL.
ce_link *_Nullable ce_loop_next_ready_link(ce_loop *_Nonnull loop);
bool ce_loop_has_ready_link(const ce_loop *_Nonnull loop);

/// Reads at most `room` bytes, and blocks nothing.
ce_link_result ce_link_receive(
    ce_link *_Nonnull link, void *_Nonnull buffer, size_t room, size_t *_Nonnull count, int *_Nonnull curl_code);
/// Sends a part of the bytes, at least one, and blocks nothing. After CE_LINK_BLOCKED, the next call has the same bytes in
/// front; they may have moved.
ce_link_result ce_link_send(
    ce_link *_Nonnull link, const void *_Nonnull bytes, size_t size, size_t *_Nonnull count, int *_Nonnull curl_code);

#endif
