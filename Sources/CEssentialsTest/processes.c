// A call for starting programs that Swift's module for the C library leaves out.
#define _GNU_SOURCE
#include "CEssentialsTest.h"

#include <spawn.h>

bool cet_spawn_keeping(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first) == 0;
}
