import TestTools

#if Persistence
    import Glibc
    import Testing

    /// A store on a file system of 1 MiB, which a separate process mounts and no other process sees.
    @Suite(.timeLimit(.minutes(5)))
    struct SmallDiskTests {
        /// The beginning of a command that runs another one with the right to mount.
        private static let privately = ["unshare", geteuid() == 0 ? "-m" : "-rm"]
        private static let mount = "mount -t tmpfs -o size=1m tmpfs"

        /// Whether a file system can be mounted here.
        private static let mayMount: Bool = {
            let command = privately + ["sh", "-c", "\(mount) /tmp 2>/dev/null && echo mounted"]
            guard let process = try? ChildProcess(command: command) else { return false }
            defer { process.wait() }
            return process.line() == "mounted"
        }()

        @Test(
            "Without space saves and openings fail as full, scopes keep rows, and removing files or rows frees space",
            .enabled(if: Self.mayMount, "A small file system cannot be mounted here."))
        func full() async throws {
            let folder = try TemporaryFolder()
            let program = try #require(ChildProcess.path(of: "StoreProbe"), "no program “StoreProbe” beside the tests")
            let script = "\(Self.mount) \(folder.path) && exec \(program) fill \(folder.path)"
            let lines = try await ChildProcess.onThread {
                let process = try ChildProcess(command: Self.privately + ["sh", "-c", script])
                defer { process.wait() }
                var lines: [String] = []
                while let line = process.line() { lines.append(line) }
                return lines
            }
            #expect(
                lines == [
                    "save: full", "save again: full", "unit of work: full", "pending: 310", "stored: 10",
                    "save with space: done", "stored: 310",
                    "open: full", "open with space: done",
                    "create: full", "delete: done", "create in their place: done", "20 updates: done", "stored: 310",
                    "integrity: ok", "delete without a log: full", "delete again without a log: full",
                    "delete with space: done",
                ])
        }
    }
#endif
