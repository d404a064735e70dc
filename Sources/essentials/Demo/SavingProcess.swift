#if Persistence
    import Dispatch
    import EssentialsTools
    import ServiceEssentials

    /// This program, started a second time: it saves without a pause, and writes a byte for each confirmed save.
    struct SavingProcess: Sendable {
        /// The number of rows of a save.
        static let batch = 500
        /// The longest time of the process in seconds, should nobody end it.
        private static let limit: UInt32 = 60

        private let identifier: pid_t
        /// The end of a pipe that the process writes to.
        private let output: Int32

        /// Starts the process.
        ///
        /// - Parameter path: The store that it makes.
        init(path: String) throws(RequestFailure) {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw RequestFailure.file("A pipe could not be made") }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            defer { close(ends[1]) }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
            let command = ["essentials", "demo", "--saving-process", path]
            var words = command.map { strdup($0) } + [nil]
            defer { for word in words { free(word) } }
            var child: pid_t = 0
            let code = posix_spawn(&child, "/proc/self/exe", &actions, nil, &words, environ)
            guard code == 0 else {
                close(ends[0])
                throw RequestFailure(
                    .resources, "The demonstration could not start itself: \(String(cString: strerror(code))).")
            }
            (identifier, output) = (child, ends[0])
        }

        /// Kills the process when it has confirmed some saves, and waits for its end.
        ///
        /// - Returns: The number of saves that it has confirmed in all.
        func kill(after count: Int) async throws -> Int {
            // Blocking calls have a thread of their own.
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "essentials.demo").async {
                    continuation.resume(with: Result { try killBlocking(after: count) })
                }
            }
        }

        private func killBlocking(after count: Int) throws -> Int {
            defer { close(output) }
            var confirmed = 0
            while confirmed < count, let bytes = read() { confirmed += bytes }
            _ = Glibc.kill(identifier, SIGKILL)
            // What it has written before its end is still in the pipe.
            while let bytes = read() { confirmed += bytes }
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            guard status & 0x7F == SIGKILL else {
                throw BrokenPromise(text: "the process saves until it is killed")
            }
            return confirmed
        }

        /// The number of bytes that have arrived; `nil` at the end.
        private func read() -> Int? {
            var bytes: [UInt8] = Array(repeating: 0, count: 256)
            while true {
                let count = Glibc.read(output, &bytes, bytes.count)
                if count < 0, errno == EINTR { continue }
                return count > 0 ? count : nil
            }
        }

        /// What the process does. It ends with its pipe.
        static func save(into path: String) async throws {
            alarm(limit)
            let store = DemoFilm.store(path)
            while true {
                let films = (0..<batch).map { DemoFilm(title: "Film \($0)", year: 1900 + $0 % 100) }
                try await store.create(films, save: .store)
                try StandardStream.output.write(".")
            }
        }
    }
#endif
