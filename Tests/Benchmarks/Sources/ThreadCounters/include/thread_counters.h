#ifndef THREAD_COUNTERS_H
#define THREAD_COUNTERS_H

#include <stdint.h>

/// The CPU time of the calling thread in nanoseconds. Reading it is a system call, so measure many operations at once.
uint64_t thread_cpu_nanoseconds(void);

/// The monotonic time in nanoseconds.
uint64_t monotonic_nanoseconds(void);

/// The number of allocations by the calling thread, freed or not.
///
/// A program that links this library has a counting allocator, which costs one instruction for each allocation.
uint64_t thread_allocations(void);

/// The number of allocations of all threads of the program, including those that have ended.
uint64_t process_allocations(void);

/// The bytes that are allocated now, by all threads.
uint64_t heap_bytes(void);

/// Starts counting the instructions that the calling thread runs outside the kernel. Returns a descriptor to read and
/// close, or -1 if the machine or its settings do not allow it.
int instruction_counter_open(void);

/// The number of instructions so far, or -1 if it cannot be read.
int64_t instruction_counter_read(int descriptor);

#endif
