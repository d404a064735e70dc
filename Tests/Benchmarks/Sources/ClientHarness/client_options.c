#include "client_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const size_t largest_count = 100000000;
static const size_t longest_body = (size_t)1 << 40;

static bool parse_count(const char *text, size_t largest, size_t *value) {
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || *text == '-' || number > largest) return false;
    *value = (size_t)number;
    return true;
}

static bool is_loopback(const char *url) {
    static const char *const prefixes[] = {
        "http://127.0.0.1:", "https://127.0.0.1:", "http://localhost:", "https://localhost:"};
    for (size_t index = 0; index < sizeof prefixes / sizeof *prefixes; index++) {
        size_t length = strlen(prefixes[index]);
        if (strncmp(url, prefixes[index], length) != 0) continue;
        // Only digits are allowed up to the path, so that no user name can hide another host here.
        size_t digits = strspn(url + length, "0123456789");
        return digits > 0 && url[length + digits] == '/';
    }
    return false;
}

static size_t *count_named(struct client_options *options, const char *name) {
    if (strcmp(name, "--concurrency") == 0) return &options->concurrency;
    if (strcmp(name, "--requests") == 0) return &options->requests;
    if (strcmp(name, "--warmup") == 0) return &options->warmup;
    if (strcmp(name, "--connections") == 0) return &options->connections;
    if (strcmp(name, "--slow-pieces") == 0) return &options->slow_pieces;
    return NULL;
}

static const char **text_named(struct client_options *options, const char *name) {
    if (strcmp(name, "--url") == 0) return &options->url;
    if (strcmp(name, "--ca") == 0) return &options->ca_file;
    if (strcmp(name, "--bundle") == 0) return &options->bundle_file;
    if (strcmp(name, "--upload") == 0) return &options->upload_file;
    return NULL;
}

static bool *flag_named(struct client_options *options, const char *name) {
    if (strcmp(name, "--http2") == 0) return &options->http2;
    if (strcmp(name, "--streamed") == 0) return &options->is_streamed;
    if (strcmp(name, "--soak") == 0) return &options->is_soak;
    return NULL;
}

static bool refuse(const char *problem, const char *subject) {
    fprintf(stderr, "%s: %s\n", subject, problem);
    fputs("usage: --url URL --concurrency N --requests N [--warmup N] [--length N] [--ca FILE] [--bundle FILE]"
          " [--http2] [--connections N] [--upload FILE] [--streamed] [--slow-pieces N] [--soak]\n",
          stderr);
    return false;
}

static bool parse_pair(struct client_options *options, const char *name, const char *value) {
    const char **text = text_named(options, name);
    if (text != NULL) {
        *text = value;
        return true;
    }
    bool is_length = strcmp(name, "--length") == 0;
    size_t *count = is_length ? &options->body_length : count_named(options, name);
    if (count == NULL) return refuse("unknown option", name);
    return parse_count(value, is_length ? longest_body : largest_count, count) || refuse("not a count in range", value);
}

bool client_options_parse(int argc, char *const *argv, struct client_options *options) {
    *options = (struct client_options){.concurrency = 1, .requests = 1000, .body_length = 13};
    for (int index = 1; index < argc; index++) {
        bool *flag = flag_named(options, argv[index]);
        if (flag != NULL) {
            *flag = true;
            continue;
        }
        if (index + 1 >= argc) return refuse("needs a value, or is unknown", argv[index]);
        if (!parse_pair(options, argv[index], argv[index + 1])) return false;
        index++;
    }
    if (options->url == NULL) return refuse("is missing", "--url");
    if (!is_loopback(options->url)) return refuse("must be a loopback address with a port and a path", "--url");
    if (options->concurrency == 0 || options->requests == 0) return refuse("must not be zero", "a count");
    return true;
}

void client_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}
