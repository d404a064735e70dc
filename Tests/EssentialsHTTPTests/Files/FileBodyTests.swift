import EssentialsHTTP
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct FileBodyTests {
    private func collect(_ body: RequestBody) async throws -> [Data] {
        guard case .stream(_, _, let open) = body.content else {
            Issue.record("The body is no stream.")
            return []
        }
        let next = open()
        var pieces: [Data] = []
        while let piece = try await next() { pieces.append(piece) }
        #expect(try await next() == nil)
        return pieces
    }

    private func length(_ body: RequestBody) -> Int? {
        if case .stream(let length, _, _) = body.content { length } else { nil }
    }

    @Test(
        "A file is sent in chunks of 512 KiB and can be sent again",
        arguments: [0, 1, 524_287, 524_288, 524_289, 1_200_000])
    func whole(size: Int) async throws {
        let directory = try ScratchDirectory()
        let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 / 7) })
        try content.write(to: URL(filePath: directory("film")))
        let body = try RequestBody.file(directory("film"))
        #expect(length(body) == size)
        #expect(body.isReplayable)
        for _ in 0..<2 {
            let pieces = try await collect(body)
            #expect(pieces.reduce(Data(), +) == content)
            #expect(pieces.dropLast().allSatisfy { $0.count == 524_288 })
            #expect(pieces.count == (size + 524_287) / 524_288)
        }
    }

    @Test("Two concurrent attempts do not disturb each other")
    func twoAtOnce() async throws {
        let directory = try ScratchDirectory()
        try directory.write(String(repeating: "ab", count: 100_000), "film")
        let body = try RequestBody.file(directory("film"))
        async let first = collect(body)
        async let second = collect(body)
        #expect(try await first == second)
    }

    @Test("A range of a file is sent", arguments: [(0..<4, "abcd"), (2..<5, "cde"), (6..<6, ""), (0..<6, "abcdef")])
    func range(range: Range<Int64>, text: String) async throws {
        let directory = try ScratchDirectory()
        try directory.write("abcdef", "film")
        let body = try RequestBody.file(directory("film"), range: range)
        #expect(length(body) == text.utf8.count)
        #expect(try await collect(body).reduce(Data(), +) == Data(text.utf8))
    }

    @Test("A range beyond the file is refused", arguments: [0..<7, -1..<3, 7..<8, 0..<Int64.max])
    func badRange(range: Range<Int64>) throws {
        let directory = try ScratchDirectory()
        try directory.write("abcdef", "film")
        let failure = #expect(throws: RequestFailure.self) { try RequestBody.file(directory("film"), range: range) }
        #expect(failure?.reason == .file)
        #expect(failure?.message.contains("6 bytes") == true)
    }

    @Test("A missing file is refused with the system's reason")
    func missing() throws {
        let failure = #expect(throws: RequestFailure.self) { try RequestBody.file("/nowhere/film") }
        #expect(failure?.reason == .file)
        #expect(failure?.underlying as? SystemError == SystemError(code: ENOENT))
        #expect(failure?.message == "“/nowhere/film” cannot be sent: No such file or directory.")
        #expect(failure?.remedy == "Check the spelling of the path, and that it exists.")
    }

    @Test("A path that is not a regular file is refused", arguments: ["/", "/dev/null", "", "a\u{0}b"])
    func noFile(path: String) {
        let failure = #expect(throws: RequestFailure.self) { try RequestBody.file(path) }
        #expect(failure?.reason == .file)
    }

    @Test("A relative path is resolved against the current directory, and a symbolic link is followed")
    func paths() async throws {
        let directory = try ScratchDirectory()
        try directory.write("abc", "film")
        #expect(symlink(directory("film"), directory("link")) == 0)
        #expect(try await collect(.file(directory("link"))) == [Data("abc".utf8)])
        let up = String(repeating: "../", count: FileManager.default.currentDirectoryPath.split(separator: "/").count)
        #expect(try await collect(.file(up + directory("film").dropFirst())) == [Data("abc".utf8)])
    }

    private func expectChanged(_ body: RequestBody) async {
        let failure = await #expect(throws: RequestFailure.self) { try await collect(body) }
        #expect(failure?.reason == .file)
        #expect(failure?.phase == .sending)
        #expect(failure?.message.contains("has changed") == true)
    }

    @Test("A file that changed before it is sent is not sent", arguments: ["ab", "abcd", "xyz"])
    func changedBefore(text: String) async throws {
        let directory = try ScratchDirectory()
        try directory.write("abc", "film")
        // A time long ago, so that the change is visible at any resolution of the clock.
        var times = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
        #expect(utimes(directory("film"), &times) == 0)
        let body = try RequestBody.file(directory("film"))
        try directory.write(text, "film")
        await expectChanged(body)
    }

    @Test("A file that shrinks or changes while it is sent fails the request", arguments: [true, false])
    func changedMeanwhile(shrinks: Bool) async throws {
        let directory = try ScratchDirectory()
        try Data(count: 1_200_000).write(to: URL(filePath: directory("film")))
        let body = try RequestBody.file(directory("film"))
        guard case .stream(_, _, let open) = body.content else { return }
        let next = open()
        #expect(try await next()?.count == 524_288)
        if shrinks {
            #expect(truncate(directory("film"), 800_000) == 0)
        } else {
            var times = [timeval(tv_sec: 1_000_000, tv_usec: 0), timeval(tv_sec: 1_000_000, tv_usec: 0)]
            #expect(utimes(directory("film"), &times) == 0)
        }
        let failure = await #expect(throws: RequestFailure.self) { while try await next() != nil {} }
        #expect(failure?.message.contains("has changed") == true)
        #expect(try await next() == nil)
    }

    @Test("A file that was replaced by a pipe does not block")
    func becamePipe() async throws {
        let directory = try ScratchDirectory()
        try directory.write("", "film")
        let body = try RequestBody.file(directory("film"))
        unlink(directory("film"))
        #expect(mkfifo(directory("film"), 0o600) == 0)
        let failure = await #expect(throws: RequestFailure.self) { try await collect(body) }
        #expect(failure?.message.contains("not a regular file") == true)
    }

    @Test("A file that is missing when it is sent fails the request")
    func gone() async throws {
        let directory = try ScratchDirectory()
        try directory.write("abc", "film")
        let body = try RequestBody.file(directory("film"))
        unlink(directory("film"))
        let failure = await #expect(throws: RequestFailure.self) { try await collect(body) }
        #expect((failure?.underlying as? SystemError)?.code == ENOENT)
    }

    @Test("No file stays open, whether it was read to its end or not")
    func closes() async throws {
        let directory = try ScratchDirectory()
        try Data(count: 1_200_000).write(to: URL(filePath: directory("film")))
        let body = try RequestBody.file(directory("film"))
        for _ in 0..<20 {
            _ = try await collect(body)
            if case .stream(_, _, let open) = body.content { _ = try await open()() }
        }
        let path = directory("film")
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
        #expect(links.isEmpty)
    }
}
