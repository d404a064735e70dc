#ifndef LIMIT_CLIENT_H
#define LIMIT_CLIENT_H

enum limit_kind {
    LIMIT_PLAIN,
    /// With settings that save work in libcurl without changing the result: sockets stay registered with epoll between
    /// two requests, the URL stays parsed and only its path is set, and proxies are disabled.
    LIMIT_TUNED,
    /// Plain, but each request comes from a thread other than libcurl's, and its response is returned to that thread,
    /// as in any client whose callers do not run on libcurl's thread. It sends one request at a time.
    LIMIT_HANDED,
};

/// The limit of libcurl itself: its multi interface with epoll on one thread, with all easy handles reused.
///
/// With `--version` as the only argument it prints libcurl's version. Returns the exit status: 0 if
/// every request succeeded.
int limit_client_main(int argc, char **argv, const char *name, enum limit_kind kind);

#endif
