#if canImport(Glibc)
    import EssentialsTools
    import Glibc
    import Testing

    @Suite struct SystemThreadTests {
        @Test("A thread has its name and blocks all signals except those that report a crash")
        func start() throws {
            let result = Result()
            try SystemThread(named: "essentials-test") {
                let current = Seen.current()
                result.seen.withLock { $0 = current }
            }.join()
            let found = result.seen.withLock { $0 }
            #expect(found.name == "essentials-test\n")
            #expect(found.blocked.isSuperset(of: [SIGPIPE, SIGTERM, SIGINT, SIGXFSZ, SIGCHLD]))
            #expect(found.blocked.isDisjoint(with: [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]))
        }

        @Test("Starting a thread leaves the signals of the calling thread as they were")
        func callersSignals() throws {
            let before = Seen.blockedSignals()
            try SystemThread(named: "essentials-test") {}.join()
            #expect(Seen.blockedSignals() == before)
        }
    }

    private final class Result: Sendable {
        let seen = Mutex(Seen())
    }

    /// The name of a thread and the signals that it blocks.
    private struct Seen {
        var name = ""
        var blocked: Set<Int32> = []

        static func current() -> Seen {
            var bytes = [UInt8](repeating: 0, count: 64)
            let file = open("/proc/thread-self/comm", O_RDONLY | O_CLOEXEC)
            let count = read(file, &bytes, bytes.count)
            close(file)
            return Seen(name: String(decoding: bytes[..<max(0, count)], as: UTF8.self), blocked: blockedSignals())
        }

        static func blockedSignals() -> Set<Int32> {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return Set((1...31).filter { sigismember(&mask, $0) == 1 })
        }
    }
#endif
