#ifndef LIMIT_CLIENT_H
#define LIMIT_CLIENT_H

enum limit_kind {
    LIMIT_PLAIN,
    /// With what saves libcurl work without changing the result: sockets stay registered with epoll between two requests,
    /// the URL stays parsed and only its path is set, and the proxy is said to be none.
    LIMIT_TUNED,
    /// Plain, but that each request comes from another thread than libcurl's and its answer goes back there, as it must
    /// in a client whose callers do not run on libcurl's thread. One request at a time.
    LIMIT_HANDED,
};

/// What libcurl itself can do: its multi interface with epoll on one thread, every easy handle reused.
///
/// `--version` as the only argument prints libcurl's version. Returns the exit status: 0 if every request succeeded.
int limit_client_main(int argc, char **argv, const char *name, enum limit_kind kind);

#endif
