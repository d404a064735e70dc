#include "limit_client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client_options.h"
#include "measurement.h"
#include "socket_set.h"

struct transfer {
    CURL *easy;
    CURLU *url;
    size_t received;
    // The uploaded file, and the number of bytes that were sent.
    int upload;
    off_t sent;
    uint64_t started;
};

struct client {
    struct client_options options;
    bool is_tuned;
    // Whether requests come from a thread other than libcurl's: an eventfd passes them on, a semaphore returns them.
    bool is_handed;
    int ask;
    sem_t answer;
    const char *path;
    CURLM *multi;
    struct socket_set sockets;
    struct transfer *transfers;
    // When libcurl must be called without an event, in nanoseconds; 0 for never.
    uint64_t timer;
    // The current phase: the number of its requests, and how many of them have started and ended.
    size_t total, started, ended, errors;
    uint32_t *latencies;
    size_t latency_count;
    uint64_t first_answer;
    long http_version;
    int upload;
    struct curl_slist *fields;
};

static void require_easy(CURLcode code, const char *operation) {
    if (code == CURLE_OK) return;
    fprintf(stderr, "%s: %s\n", operation, curl_easy_strerror(code));
    exit(2);
}

static void require_multi(CURLMcode code, const char *operation) {
    if (code == CURLM_OK) return;
    fprintf(stderr, "%s: %s\n", operation, curl_multi_strerror(code));
    exit(2);
}

static void require_url(CURLUcode code, const char *operation) {
    if (code == CURLUE_OK) return;
    fprintf(stderr, "%s: %s\n", operation, curl_url_strerror(code));
    exit(2);
}

static void require_memory(const void *pointer) {
    if (pointer != NULL) return;
    fputs("out of memory\n", stderr);
    exit(2);
}

#define SET_EASY(easy, option, value) require_easy(curl_easy_setopt(easy, option, value), #option)
#define SET_MULTI(multi, option, value) require_multi(curl_multi_setopt(multi, option, value), #option)

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    struct transfer *transfer = context;
    transfer->received += size * count;
    return size * count;
}

static size_t send_piece(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *transfer = context;
    ssize_t length = pread(transfer->upload, bytes, size * count, transfer->sent);
    if (length < 0) return CURL_READFUNC_ABORT;
    transfer->sent += length;
    return (size_t)length;
}

static int timer_changed(CURLM *multi, long milliseconds, void *context) {
    (void)multi;
    struct client *client = context;
    client->timer = milliseconds < 0 ? 0 : measurement_now() + (uint64_t)milliseconds * 1000000u;
    return 0;
}

/// By default libcurl searches authorities in a directory in addition to the bundle, and reads both for every
/// connection. Without the directory it caches the bundle.
static void set_trust(const struct client *client, CURL *easy) {
    const char *bundle = client->options.bundle_file;
    const char *file = bundle != NULL ? bundle : client->options.ca_file;
    if (file == NULL) return;
    SET_EASY(easy, CURLOPT_CAINFO, file);
    if (bundle == NULL || client->is_tuned) SET_EASY(easy, CURLOPT_CAPATH, NULL);
}

static void set_upload(const struct client *client, struct transfer *transfer) {
    if (client->options.upload_file == NULL) return;
    struct stat status;
    if (fstat(client->upload, &status) != 0) {
        perror("fstat");
        exit(2);
    }
    transfer->upload = client->upload;
    SET_EASY(transfer->easy, CURLOPT_UPLOAD, 1L);
    SET_EASY(transfer->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
    SET_EASY(transfer->easy, CURLOPT_READFUNCTION, send_piece);
    SET_EASY(transfer->easy, CURLOPT_READDATA, transfer);
    SET_EASY(transfer->easy, CURLOPT_HTTPHEADER, client->fields);
}

static void open_upload(struct client *client) {
    if (client->options.upload_file == NULL) return;
    client->upload = open(client->options.upload_file, O_RDONLY | O_CLOEXEC);
    if (client->upload < 0) {
        perror(client->options.upload_file);
        exit(2);
    }
    // The request does not wait for permission to send the body, like the other clients.
    client->fields = curl_slist_append(NULL, "Expect:");
    require_memory(client->fields);
}

static void open_transfer(struct client *client, struct transfer *transfer) {
    CURL *easy = curl_easy_init();
    require_memory(easy);
    transfer->easy = easy;
    SET_EASY(easy, CURLOPT_PRIVATE, transfer);
    SET_EASY(easy, CURLOPT_NOSIGNAL, 1L);
    SET_EASY(easy, CURLOPT_WRITEFUNCTION, receive);
    SET_EASY(easy, CURLOPT_WRITEDATA, transfer);
    SET_EASY(easy, CURLOPT_HTTP_VERSION,
             client->options.http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    // Otherwise the first requests would each open a connection instead of sharing one.
    if (client->options.http2) SET_EASY(easy, CURLOPT_PIPEWAIT, 1L);
    set_trust(client, easy);
    set_upload(client, transfer);
    if (!client->is_tuned) {
        SET_EASY(easy, CURLOPT_URL, client->options.url);
        return;
    }
    transfer->url = curl_url();
    require_memory(transfer->url);
    require_url(curl_url_set(transfer->url, CURLUPART_URL, client->options.url, 0), "curl_url_set");
    SET_EASY(easy, CURLOPT_CURLU, transfer->url);
    SET_EASY(easy, CURLOPT_PROXY, "");
    SET_EASY(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_set_closed);
    SET_EASY(easy, CURLOPT_CLOSESOCKETDATA, &client->sockets);
}

static void open_client(struct client *client, const struct client_options *options, bool tuned) {
    *client = (struct client){.options = *options, .is_tuned = tuned};
    client->path = strchr(strstr(options->url, "//") + 2, '/');
    require_easy(curl_global_init(CURL_GLOBAL_DEFAULT), "curl_global_init");
    socket_set_open(&client->sockets, tuned);
    client->multi = curl_multi_init();
    require_memory(client->multi);
    SET_MULTI(client->multi, CURLMOPT_SOCKETFUNCTION, socket_set_changed);
    SET_MULTI(client->multi, CURLMOPT_SOCKETDATA, &client->sockets);
    SET_MULTI(client->multi, CURLMOPT_TIMERFUNCTION, timer_changed);
    SET_MULTI(client->multi, CURLMOPT_TIMERDATA, client);
    // The default depends on the number of transfers, and would close connections at the end of the warm-up.
    SET_MULTI(client->multi, CURLMOPT_MAXCONNECTS, (long)options->concurrency);
    open_upload(client);
    client->transfers = calloc(options->concurrency, sizeof *client->transfers);
    require_memory(client->transfers);
    for (size_t index = 0; index < options->concurrency; index++) open_transfer(client, &client->transfers[index]);
    size_t longest_phase = options->requests > options->warmup ? options->requests : options->warmup;
    client->latencies = calloc(longest_phase, sizeof *client->latencies);
    require_memory(client->latencies);
}

static void close_client(struct client *client) {
    for (size_t index = 0; index < client->options.concurrency; index++) {
        curl_easy_cleanup(client->transfers[index].easy);
        curl_url_cleanup(client->transfers[index].url);
    }
    require_multi(curl_multi_cleanup(client->multi), "curl_multi_cleanup");
    socket_set_close(&client->sockets);
    if (client->is_handed) {
        close(client->ask);
        sem_destroy(&client->answer);
    }
    free(client->transfers);
    free(client->latencies);
    curl_slist_free_all(client->fields);
    if (client->options.upload_file != NULL) close(client->upload);
    curl_global_cleanup();
}

static void start_transfer(struct client *client, struct transfer *transfer) {
    transfer->received = 0;
    transfer->sent = 0;
    if (client->is_tuned) {
        require_url(curl_url_set(transfer->url, CURLUPART_PATH, client->path, 0), "curl_url_set");
    }
    client->started++;
    client->sockets.running++;
    transfer->started = measurement_now();
    require_multi(curl_multi_add_handle(client->multi, transfer->easy), "curl_multi_add_handle");
}

static void end_transfer(struct client *client, struct transfer *transfer, CURLcode result) {
    uint32_t latency = measurement_latency_since(transfer->started);
    if (client->first_answer == 0) client->first_answer = measurement_now();
    require_multi(curl_multi_remove_handle(client->multi, transfer->easy), "curl_multi_remove_handle");
    client->ended++;
    client->sockets.running--;
    long status = 0;
    require_easy(curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status), "CURLINFO_RESPONSE_CODE");
    require_easy(curl_easy_getinfo(transfer->easy, CURLINFO_HTTP_VERSION, &client->http_version),
                 "CURLINFO_HTTP_VERSION");
    if (result == CURLE_OK && status == 200 && transfer->received == client->options.body_length) {
        client->latencies[client->latency_count] = latency;
        client->latency_count++;
    } else {
        if (client->errors == 0) {
            fprintf(stderr, "first error: %s, status %ld, %zu bytes\n", curl_easy_strerror(result), status,
                    transfer->received);
        }
        client->errors++;
    }
}

static void drain_messages(struct client *client) {
    int left = 0;
    for (CURLMsg *message; (message = curl_multi_info_read(client->multi, &left)) != NULL;) {
        if (message->msg != CURLMSG_DONE) continue;
        // Removing the handle frees the message.
        CURLcode result = message->data.result;
        struct transfer *transfer = NULL;
        require_easy(curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer),
                     "CURLINFO_PRIVATE");
        end_transfer(client, transfer, result);
        if (client->is_handed) sem_post(&client->answer);
        else if (client->started < client->total) start_transfer(client, transfer);
    }
}

static void act(struct client *client, curl_socket_t socket, int events) {
    int running = 0;
    require_multi(curl_multi_socket_action(client->multi, socket, events, &running), "curl_multi_socket_action");
}

static void run_due_timer(struct client *client) {
    while (client->timer != 0 && client->timer <= measurement_now()) {
        client->timer = 0;
        act(client, CURL_SOCKET_TIMEOUT, 0);
        drain_messages(client);
    }
}

static int wait_milliseconds(const struct client *client) {
    if (client->timer == 0) return 1000;
    uint64_t now = measurement_now();
    return client->timer <= now ? 0 : (int)((client->timer - now + 999999) / 1000000);
}

static void run_loop(struct client *client) {
    struct epoll_event events[256];
    while (client->ended < client->total) {
        run_due_timer(client);
        if (client->ended == client->total) break;
        int count = epoll_wait(client->sockets.epoll, events, 256, wait_milliseconds(client));
        if (count < 0 && errno != EINTR) require_multi(CURLM_INTERNAL_ERROR, "epoll_wait");
        for (int index = 0; index < count; index++) {
            curl_socket_t socket = events[index].data.fd;
            if (client->is_handed && socket == client->ask) {
                start_transfer(client, client->transfers);
                continue;
            }
            if (!socket_set_accepts_event(&client->sockets, socket)) continue;
            int action = 0;
            if (events[index].events & EPOLLIN) action |= CURL_CSELECT_IN;
            if (events[index].events & EPOLLOUT) action |= CURL_CSELECT_OUT;
            if (events[index].events & (EPOLLERR | EPOLLHUP)) action |= CURL_CSELECT_ERR;
            act(client, socket, action);
        }
        drain_messages(client);
    }
}

static void *run_other_thread(void *context) {
    run_loop(context);
    return NULL;
}

static void require_success(int code, const char *operation) {
    if (code == 0) return;
    fprintf(stderr, "%s: %s\n", operation, strerror(code > 0 ? code : errno));
    exit(2);
}

static void run_handed(struct client *client) {
    pthread_t loop;
    require_success(pthread_create(&loop, NULL, run_other_thread, client), "pthread_create");
    for (size_t index = 0; index < client->total; index++) {
        uint64_t asked = measurement_now();
        size_t before = client->latency_count;
        require_success(eventfd_write(client->ask, 1), "eventfd_write");
        while (sem_wait(&client->answer) != 0) {}
        if (client->latency_count > before) client->latencies[before] = measurement_latency_since(asked);
    }
    require_success(pthread_join(loop, NULL), "pthread_join");
}

static void run_phase(struct client *client, size_t total) {
    client->total = total;
    client->started = client->ended = client->errors = client->latency_count = 0;
    if (client->is_handed) return run_handed(client);
    for (size_t index = 0; index < client->options.concurrency && client->started < total; index++) {
        start_transfer(client, &client->transfers[index]);
    }
    run_loop(client);
}

static void open_hand_over(struct client *client) {
    if (client->options.concurrency != 1) {
        fputs("requests that are handed over go one at a time\n", stderr);
        exit(2);
    }
    client->is_handed = true;
    require_success(sem_init(&client->answer, 0, 0), "sem_init");
    client->ask = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // Edge-triggered, so that the descriptor does not have to be read.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = client->ask};
    require_success(epoll_ctl(client->sockets.epoll, EPOLL_CTL_ADD, client->ask, &event), "epoll_ctl");
}

static struct measurement measure(struct client *client, const char *name) {
    double cpu = measurement_cpu_seconds();
    uint64_t start = measurement_now();
    run_phase(client, client->options.requests);
    return (struct measurement){
        .seconds = (double)(measurement_now() - start) / 1e9,
        .cpu_seconds = measurement_cpu_seconds() - cpu,
        .max_rss_kb = measurement_max_rss_kb(),
        .client = name,
        .protocol = client->http_version == CURL_HTTP_VERSION_2_0 ? "HTTP/2" : "HTTP/1.1",
        .latencies = client->latencies,
        .latency_count = client->latency_count,
        .requests = client->options.requests,
        .errors = client->errors,
        .first_answer = client->first_answer,
    };
}

int limit_client_main(int argc, char **argv, const char *name, enum limit_kind kind) {
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts(curl_version());
        return 0;
    }
    struct client_options options;
    if (!client_options_parse(argc, argv, &options)) return 2;
    client_raise_descriptor_limit();
    struct client client;
    open_client(&client, &options, kind == LIMIT_TUNED);
    if (kind == LIMIT_HANDED) open_hand_over(&client);
    run_phase(&client, options.warmup);
    size_t errors = client.errors;
    // Requests that fail in the warm-up are not worth measuring.
    if (errors == 0) {
        struct measurement measurement = measure(&client, name);
        measurement_report(&measurement);
        errors = measurement.errors;
    }
    close_client(&client);
    return errors == 0 ? 0 : 1;
}
