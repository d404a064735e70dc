#ifndef THREAD_COUNTERS_H
#define THREAD_COUNTERS_H

#include <stdint.h>

/// CPU time of the calling thread in nanoseconds. Reading it is a system call: put many operations between two reads.
uint64_t thread_cpu_nanoseconds(void);

/// Monotonic time in nanoseconds.
uint64_t monotonic_nanoseconds(void);

/// How often the calling thread has asked for memory, freed or not.
///
/// A program that links this gets an allocator that counts, which costs one instruction an allocation.
uint64_t thread_allocations(void);

/// How often all threads of the program have asked for memory, those that have ended included.
uint64_t process_allocations(void);

/// Starts to count the instructions that the calling thread runs outside the kernel.
/// Returns a descriptor to read and close, or -1 if the machine or its rules do not allow it.
int instruction_counter_open(void);

/// The instructions counted so far, or -1 if they cannot be read.
int64_t instruction_counter_read(int descriptor);

#endif
