#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// The claim of a process on a store, and its child processes.
    struct StoreOwnerTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// The status of a child process, which is 0 if it has ended with the code 0.
        private func status(of child: pid_t) -> Int32 {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            return status
        }

        @Test("A program that was started meanwhile does not keep a store that was given up")
        func startedProgram() throws {
            let owner = try StoreOwner(store: folder.file("store.sqlite"))
            var child: pid_t = 0
            let command = ["sleep", "60"]
            var words = command.map { strdup($0) } + [nil]
            defer { for word in words { free(word) } }
            try #require(posix_spawnp(&child, "sleep", nil, nil, &words, environ) == 0)
            defer {
                kill(child, SIGKILL)
                _ = status(of: child)
            }
            owner.release()
            let next = try StoreOwner(store: folder.file("store.sqlite"))
            #expect(next.isOwner)
            next.release()
        }
    }
#endif
