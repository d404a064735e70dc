import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct DownloadFailureTests {
    private typealias Response = ScriptedTransport.Response

    private func failure(
        _ transport: ScriptedTransport, _ destination: String, _ options: DownloadOptions = DownloadOptions(),
        _ calls: FileCalls = .system
    ) async throws -> RequestFailure {
        let request = try TransportRequest.film()
        return try #require(
            await #expect(throws: RequestFailure.self) {
                try await FileDownload.run(request, to: destination, options: options, progress: nil, calls: calls) {
                    request throws(RequestFailure) in try await transport.send(request)
                }
            })
    }

    private func expectFile(_ failure: RequestFailure, _ code: Int32, naming path: String) {
        #expect(failure.reason == .file)
        #expect((failure.underlying as? SystemError)?.code == code)
        #expect(failure.message.contains(path))
        #expect(failure.message.contains(String(cString: strerror(code))))
        #expect(failure.remedy != RequestFailure.Reason.file.remedy)
    }

    // MARK: Before the request

    @Test("A missing directory fails before the request is sent")
    func missingDirectory() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport()
        let failure = try await failure(transport, directory("none/film"))
        expectFile(failure, ENOENT, naming: directory("none"))
        #expect(
            failure.remedy == "Create the directory, or have the download create it with createsDirectories.")
        #expect(failure.phase == .preparation)
        #expect(transport.requests.isEmpty)
    }

    @Test("A regular file in place of the directory fails")
    func fileAsDirectory() async throws {
        let directory = try ScratchDirectory()
        try directory.write("a", "file")
        expectFile(
            try await failure(ScriptedTransport(), directory("file/film")), ENOTDIR, naming: directory("file"))
    }

    @Test("A directory as the destination fails, also behind a symbolic link")
    func directoryAsDestination() async throws {
        let directory = try ScratchDirectory()
        try FileManager.default.createDirectory(atPath: directory("sub"), withIntermediateDirectories: false)
        #expect(symlink(directory("sub"), directory("link")) == 0)
        for name in ["sub", "link"] {
            expectFile(try await failure(ScriptedTransport(), directory(name)), EISDIR, naming: directory(name))
        }
        #expect(try directory.names == ["link", "sub"])
    }

    @Test("A path without a file name fails", arguments: ["", "/", "sub/", ".", "..", "a\u{0}b"])
    func noFile(path: String) async throws {
        let failure = try await failure(ScriptedTransport(), path)
        #expect(failure.reason == .file)
        #expect(!failure.message.unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test("A device or a pipe is not replaced by a file")
    func device() async throws {
        let directory = try ScratchDirectory()
        #expect(mkfifo(directory("pipe"), 0o600) == 0)
        for path in ["/dev/null", directory("pipe")] {
            let failure = try await failure(ScriptedTransport(), path)
            #expect(failure.reason == .file)
        }
        #expect(try directory.names == ["pipe"])
    }

    @Test("A name that is too long fails", arguments: [false, true])
    func longName(resumes: Bool) async throws {
        let directory = try ScratchDirectory()
        let name = String(repeating: "a", count: resumes ? 253 : 256)
        var options = DownloadOptions()
        options.resumes = resumes
        expectFile(try await failure(ScriptedTransport(), directory(name), options), ENAMETOOLONG, naming: name)
    }

    @Test("A directory without write permission fails before the request is sent")
    func noPermission() async throws {
        // In a process of its own: the superuser can write everywhere and drops its privileges for this test.
        await #expect(processExitsWith: .success) {
            if geteuid() == 0 { try #require(setgid(65_534) == 0 && setuid(65_534) == 0) }
            // Every user can enter /tmp, but TMPDIR can be a directory that only its owner can enter.
            try #require(setenv("TMPDIR", "/tmp", 1) == 0)
            let directory = try ScratchDirectory()
            try #require(directory.path.hasPrefix("/tmp/"))
            #expect(chmod(directory.path, 0o500) == 0)
            let tests = DownloadFailureTests()
            let found = try await tests.failure(ScriptedTransport(), directory("film"))
            tests.expectFile(found, EACCES, naming: directory.path)
        }
    }

    @Test(
        "A read-only file system fails before the request is sent",
        .enabled(if: mayMount, "It takes the capability to mount one."))
    func readOnly() async throws {
        // In a process and a mount namespace of its own.
        await #expect(processExitsWith: .success) {
            let directory = try ScratchDirectory()
            // <sched.h> declares `unshare` only with _GNU_SOURCE. The type is that of its manual page.
            let symbol = try #require(dlsym(nil, "unshare"))
            let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
            let (newNamespace, privately, readOnly) = (Int32(0x2_0000), UInt(0x4_4000), UInt(1))
            try #require(unshare(newNamespace) == 0)
            try #require(mount("none", "/", nil, privately, nil) == 0)
            try #require(mount("none", directory.path, "tmpfs", readOnly, nil) == 0)
            let tests = DownloadFailureTests()
            let found = try await tests.failure(ScriptedTransport(), directory("film"))
            tests.expectFile(found, EROFS, naming: directory.path)
            umount(directory.path)
        }
    }

    /// CAP_SYS_ADMIN (capabilities(7)).
    private static var mayMount: Bool {
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = status.split(separator: "\n").first(where: { $0.hasPrefix("CapEff:") }),
            let digits = line.split(whereSeparator: { $0 == "\t" || $0 == " " }).last,
            let capabilities = UInt64(digits, radix: 16)
        else { return false }
        return capabilities >> 21 & 1 == 1
    }

    @Test("An existing file is refused before the request is sent, also a dangling symbolic link")
    func refuse() async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        #expect(symlink(directory("none"), directory("link")) == 0)
        var options = DownloadOptions()
        options.existing = .refuse
        for name in ["film", "link"] {
            let transport = ScriptedTransport()
            expectFile(try await failure(transport, directory(name), options), EEXIST, naming: name)
            #expect(transport.requests.isEmpty)
        }
        #expect(directory.text("film") == "old")
    }

    // MARK: At the end

    /// With hard links, and as on a file system without them.
    private static let links: [FileCalls] = {
        var without = FileCalls.system
        without.link = { _, _ in EPERM }
        return [.system, without]
    }()

    @Test("A file that appears during the download is refused at the end, and nothing remains", arguments: 0..<2)
    func refuseAtEnd(link: Int) async throws {
        let directory = try ScratchDirectory()
        var options = DownloadOptions()
        options.existing = .refuse
        let transport = ScriptedTransport(
            Response(200, [:], ["new"]) { number in if number == 1 { try? directory.write("old", "film") } })
        expectFile(try await failure(transport, directory("film"), options, Self.links[link]), EEXIST, naming: "film")
        #expect(directory.text("film") == "old")
        #expect(try directory.names == ["film"])
    }

    @Test("A unique name is chosen with and without hard links", arguments: 0..<2)
    func refusePasses(link: Int) async throws {
        let directory = try ScratchDirectory()
        var options = DownloadOptions()
        options.existing = .refuse
        let transport = ScriptedTransport(Response(200, [:], ["new"]))
        let file = try await FileDownload.run(
            .film(), to: directory("film"), options: options, progress: nil, calls: Self.links[link]
        ) { request throws(RequestFailure) in try await transport.send(request) }
        #expect(file.bytes == 3)
        #expect(directory.text("film") == "new")
        #expect(try directory.names == ["film"])
    }

    // MARK: During the transfer

    /// Calls of a disk that has room for a number of bytes.
    private func disk(of size: Int, then code: Int32) -> FileCalls {
        var calls = FileCalls.system
        let free = Mutex(size)
        calls.freeBytes = { _ in nil }
        let write = calls.write
        calls.write = { descriptor, bytes in
            let count = free.withLock { free in
                let count = min(free, bytes.count)
                free -= count
                return count
            }
            return count == 0 ? -Int(code) : write(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(count)))
        }
        return calls
    }

    @Test("A full disk fails the download, and nothing remains", arguments: [ENOSPC, EDQUOT, EFBIG, EIO])
    func fullDisk(code: Int32) async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        let transport = ScriptedTransport(Response(200, [:], ["abcd", "efgh", "ijkl"]))
        let failure = try await failure(transport, directory("film"), .replacing, disk(of: 6, then: code))
        expectFile(failure, code, naming: directory("film"))
        #expect(failure.phase == .receiving)
        #expect(try directory.names == ["film"])
        #expect(directory.text("film") == "old")
        #expect(transport.cancelCounts == [1])
    }

    @Test("A disk with less free space than the file needs fails before anything is written")
    func noRoom() async throws {
        let directory = try ScratchDirectory()
        var calls = FileCalls.system
        calls.freeBytes = { _ in 99 }
        calls.write = { _, _ in -Int(EIO) }
        let transport = ScriptedTransport(Response(200, [.contentLength: "100"], ["a"]))
        let failure = try await failure(transport, directory("film"), DownloadOptions(), calls)
        expectFile(failure, ENOSPC, naming: directory("film"))
        #expect(failure.message.contains("100 bytes"))
        #expect(try directory.names.isEmpty)
    }

    @Test("A length that exceeds every disk fails with the real system calls")
    func absurdLength() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(200, [.contentLength: "\(Int64.max)"], ["a"]))
        expectFile(try await failure(transport, directory("film")), ENOSPC, naming: directory("film"))
        #expect(try directory.names.isEmpty)
    }

    @Test("A file that cannot be flushed to the disk is not moved to its destination")
    func noSync() async throws {
        let directory = try ScratchDirectory()
        var calls = FileCalls.system
        calls.sync = { _ in EIO }
        let transport = ScriptedTransport(Response(200, [:], ["a"]))
        expectFile(try await failure(transport, directory("film"), DownloadOptions(), calls), EIO, naming: "film")
        #expect(try directory.names.isEmpty)
    }

    @Test("A file system that does not support flushing does not fail the download")
    func unknownSync() async throws {
        let directory = try ScratchDirectory()
        var calls = FileCalls.system
        calls.sync = { _ in EINVAL }
        let transport = ScriptedTransport(Response(200, [:], ["a"]))
        _ = try await FileDownload.run(
            .film(), to: directory("film"), options: DownloadOptions(), progress: nil, calls: calls
        ) { request throws(RequestFailure) in try await transport.send(request) }
        #expect(directory.text("film") == "a")
    }

    @Test("A file above the maximum size fails by its announced length, or while it grows", arguments: [nil, "9"])
    func tooLarge(length: String?) async throws {
        let directory = try ScratchDirectory()
        var options = DownloadOptions()
        options.maximumSize = 8
        let transport = ScriptedTransport(
            Response(200, length.map { [.contentLength: $0] } ?? [:], ["abcd", "efgh", "i"]))
        let failure = try await failure(transport, directory("film"), options)
        #expect(failure.reason == .tooLarge)
        #expect(failure.message.contains("8 bytes"))
        #expect(try directory.names.isEmpty)
        #expect(transport.cancelCounts == [1])
    }

    @Test("A file of exactly the maximum size succeeds")
    func justSmallEnough() async throws {
        let directory = try ScratchDirectory()
        var options = DownloadOptions()
        options.maximumSize = 8
        let transport = ScriptedTransport(Response(200, [.contentLength: "8"], ["abcd", "efgh"]))
        #expect(try await transport.download(.film(), to: directory("film"), options: options).bytes == 8)
    }

    @Test(
        "A failure of the transfer is passed on, and nothing remains",
        arguments: [RequestFailure.Reason.interrupted, .timeout])
    func brokenTransfer(reason: RequestFailure.Reason) async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(200, [:], ["ab"], failure: RequestFailure(reason, "It ended.")))
        #expect(try await failure(transport, directory("film")).reason == reason)
        #expect(try directory.names.isEmpty)
    }

    @Test(
        "More or fewer bytes than announced fail the download",
        arguments: [("3", "protocolViolation"), ("5", "interrupted")])
    func wrongLength(length: String, reason: String) async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(200, [.contentLength: length], ["ab", "cd"]))
        #expect(try await failure(transport, directory("film")).reason.name == reason)
        #expect(try directory.names.isEmpty)
    }

    @Test("The length of a compressed body is not the length of the file")
    func compressed() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(
            Response(200, [.contentLength: "3", .contentEncoding: "gzip"], ["ab", "cd"]))
        #expect(try await transport.download(.film(), to: directory("film")).bytes == 4)
    }

    @Test("A download that is cancelled during the transfer leaves nothing", arguments: [false, true])
    func cancelled(transportNotices: Bool) async throws {
        let directory = try ScratchDirectory()
        let (reached, reaching) = AsyncStream.makeStream(of: Void.self)
        let request = try TransportRequest.film()
        let transport = ScriptedTransport(
            Response(
                200, [:], transportNotices ? ["ab"] : ["ab", "cd", "ef"],
                failure: RequestFailure(.cancelled, "The reading task was cancelled.")
            ) { number in
                guard number == 1 else { return }
                reaching.yield()
                while !Task.isCancelled { await Task.yield() }
            })
        let task = Task { try await transport.download(request, to: directory("film")) }
        for await _ in reached { break }
        #expect(try directory.names.count == 1)
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(try directory.names.isEmpty)
        #expect(transport.cancelCounts == [1])
    }
}
