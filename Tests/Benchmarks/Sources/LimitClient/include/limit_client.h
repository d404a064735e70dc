#ifndef LIMIT_CLIENT_H
#define LIMIT_CLIENT_H

#include <stdbool.h>

/// What libcurl itself can do: its multi interface with epoll on one thread, every easy handle reused.
///
/// `tuned` adds what saves libcurl work without changing the result: sockets stay registered with epoll between two
/// requests, the URL stays parsed and only its path is set, and the proxy is said to be none.
/// `--version` as the only argument prints libcurl's version. Returns the exit status: 0 if every request succeeded.
int limit_client_main(int argc, char **argv, const char *name, bool tuned);

#endif
