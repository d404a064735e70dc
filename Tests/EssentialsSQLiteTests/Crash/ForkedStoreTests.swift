import TestTools

#if Persistence
    import EssentialsPersistence
    import Glibc
    import Testing

    @testable import EssentialsSQLite

    /// Stores whose process forks while they are open.
    @Suite(.timeLimit(.minutes(5)))
    struct ForkedStoreTests {
        @Test("A process number other than the current one owns no store, and a release ends the ownership")
        func owners() throws {
            let folder = try TemporaryFolder()
            let owner = try StoreOwner(store: folder.file("a.sqlite"))
            #expect(owner.isOwner)
            owner.release()
            #expect(!owner.isOwner)
            let parent = try StoreOwner(store: folder.file("a.sqlite"), process: OwnerProcess(number: getpid() + 1))
            #expect(!parent.isOwner)
        }

        @Test("After a fork every call of the child process fails as closed, and the parent process keeps its rows")
        func calls() async throws {
            let folder = try TemporaryFolder()
            let path = folder.file("store.sqlite")
            let lines = try await ChildProcess.onThread {
                let process = try ChildProcess("StoreProbe", ["fork", path])
                var lines: [String] = []
                while let line = process.line() { lines.append(line) }
                _ = process.lastLines()
                return lines
            }
            #expect(lines.last == "parent 2")
            #expect(lines.dropLast().count == 21)
            #expect(lines.dropLast().filter { !$0.hasSuffix(" closed") } == [])
        }
    }
#endif
