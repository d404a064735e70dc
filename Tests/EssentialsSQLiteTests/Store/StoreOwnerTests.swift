#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// The claim of a process on a store, and its child processes.
    struct StoreOwnerTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// The status of a child process; 0 if its exit code was 0.
        private func status(of child: pid_t) -> Int32 {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            return status
        }

        @Test("A program that was started meanwhile does not keep a released store locked")
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

        @Test(
            "Another file in the place of the claim is refused and not overwritten",
            arguments: ["link", "pipe", "folder"])
        func otherFile(kind: String) throws {
            let (path, precious) = (folder.file("store.sqlite"), folder.file("precious"))
            let descriptor = open(precious, O_WRONLY | O_CREAT, 0o600)
            #expect(write(descriptor, "precious", 8) == 8)
            close(descriptor)
            switch kind {
            case "link": #expect(link(precious, path + "-owner") == 0)
            case "pipe": #expect(mkfifo(path + "-owner", 0o600) == 0)
            default: #expect(mkdir(path + "-owner", 0o700) == 0)
            }
            let failure = #expect(throws: PersistenceFailure.self) { try StoreOwner(store: path) }
            #expect(failure?.reason == .file)
            var status = stat()
            #expect(stat(precious, &status) == 0 && status.st_size == 8)
        }

        /// The descriptor by which this process has a file open.
        private func descriptor(of path: String) -> Int32? {
            (0..<1024).first { number in
                var link: [CChar] = Array(repeating: 0, count: 4096)
                let count = readlink("/proc/self/fd/\(number)", &link, link.count)
                return count > 0 && link.prefix(count).elementsEqual(path.utf8.map { CChar(bitPattern: $0) })
            }
        }

        @Test(
            "A copy of the descriptor, as in a program that is being started, does not keep a released store locked")
        func copies() throws {
            let path = folder.file("store.sqlite")
            let owner = try StoreOwner(store: path)
            let copy = dup(try #require(descriptor(of: path + "-owner")))
            defer { close(copy) }
            owner.release()
            try StoreOwner(store: path).release()
        }
    }
#endif
