/// How often a test repeats what provokes a race.
package enum Rounds {
    /// All rounds where the thread sanitizer sees every race that happens, a third of them elsewhere, so that the tests of
    /// a normal run do not wait for the processors.
    package static func racing(_ count: Int) -> Int {
        #if ESSENTIALS_THREAD_SANITIZER
            count
        #else
            (count + 2) / 3
        #endif
    }

    /// How many tasks run at the same time: all, and a tenth of them with the thread sanitizer. There, thousands of tasks
    /// would keep the threads from others for many seconds, which then miss their times.
    package static func atOnce(_ count: Int) -> Int {
        #if ESSENTIALS_THREAD_SANITIZER
            (count + 9) / 10
        #else
            count
        #endif
    }
}
