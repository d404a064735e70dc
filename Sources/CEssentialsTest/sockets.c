// Calls of Linux that Swift's module for the C library leaves out.
#define _GNU_SOURCE
#include "CEssentialsTest.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>

int cet_event_create(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

void cet_event_signal(int event) {
    // The counter can only be full when it is readable already.
    if (eventfd_write(event, 1) != 0) return;
}

int cet_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

bool cet_socket_limit_reading(int socket, int seconds) {
    struct timeval limit = {.tv_sec = seconds};
    return setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0;
}
