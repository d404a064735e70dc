import EssentialsHTTP
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartFailureTests {
    private struct Broken: Error {}

    /// Yields empty chunks forever.
    private struct Empties: AsyncSequence, AsyncIteratorProtocol, Sendable {
        func makeAsyncIterator() -> Empties { self }
        mutating func next() async throws -> Data? { Data() }
    }

    /// A directory with a file, and a form that contains the file between two fields.
    private func form(
        with content: Data, then change: (ScratchDirectory) throws -> Void = { _ in }
    ) throws -> (ScratchDirectory, RequestBody) {
        let directory = try ScratchDirectory()
        try content.write(to: URL(filePath: directory("film")))
        try age(directory("film"), to: 1_000_000)
        var form = try MultipartBody()
        try form.append(.field("a", "1"))
        try form.append(.file(directory("film"), name: "film"))
        try form.append(.field("b", "2"))
        try change(directory)
        return (directory, .multipart(form))
    }

    private func age(_ path: String, to seconds: Int) throws {
        // A time long ago, so that a change is visible at any resolution of the clock.
        var times = [timeval(tv_sec: seconds, tv_usec: 0), timeval(tv_sec: seconds, tv_usec: 0)]
        try #require(utimes(path, &times) == 0)
    }

    @Test(
        "A zero byte in a name or file name is refused",
        arguments: [("a\0b", nil), ("a", "x\0.png")] as [(String, String?)])
    func zeroByte(name: String, fileName: String?) throws {
        for subtype in [MultipartBody.Subtype.formData, .mixed] {
            var form = try MultipartBody(subtype: subtype)
            let part = try MultipartPart.data(Data("1".utf8), name: name, fileName: fileName)
            let failure = #expect(throws: RequestFailure.self) { try form.append(part) }
            #expect(failure?.reason == .invalidRequest)
            #expect(failure?.message.contains("zero byte") == true)
        }
    }

    /// Reads until the failure, and checks that the closing delimiter was not delivered.
    private func failure(of next: RequestBody.Source) async throws -> RequestFailure {
        var last = Data()
        do {
            while let piece = try await next() { last = piece }
        } catch let failure as RequestFailure {
            #expect(!last.suffix(2).elementsEqual("--".utf8))
            let again = await #expect(throws: RequestFailure.self) { try await next() }
            #expect(again?.message == failure.message)
            return failure
        }
        Issue.record("The body came to its end.")
        throw Broken()
    }

    private func openCount(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    @Test(
        "A file that changed after it was appended fails the request with a message that names it",
        arguments: [("", "abc"), ("abc", "ab"), ("abc", "abcd"), ("abc", "xyz"), ("abc", "")])
    func changed(before: String, after: String) async throws {
        let (directory, body) = try form(with: Data(before.utf8)) { try $0.write(after, "film") }
        let failure = try await failure(of: body.opened())
        #expect(failure.reason == .file)
        #expect(failure.phase == .sending)
        #expect(failure.message.contains("“\(directory("film"))” has changed"))
        #expect(try openCount(of: directory("film")) == 0)
    }

    @Test(
        "A file that shrinks, grows or changes while it is sent fails the request",
        arguments: [800_000, 1_300_000, nil])
    func changedMeanwhile(size: off_t?) async throws {
        let (directory, body) = try form(with: Data(count: 1_200_000))
        let next = try body.opened()
        _ = try await next()
        #expect(try await next()?.count == 524_288)
        #expect(try openCount(of: directory("film")) == 1)
        if let size {
            #expect(truncate(directory("film"), size) == 0)
        } else {
            try age(directory("film"), to: 2_000_000)
        }
        let failure = try await failure(of: next)
        #expect(failure.reason == .file)
        #expect(failure.message.contains("“\(directory("film"))” has changed"))
        #expect(try openCount(of: directory("film")) == 0)
    }

    @Test("A missing file fails the request with its name and the system's reason")
    func removed() async throws {
        let (directory, body) = try form(with: Data("abc".utf8)) { #expect(unlink($0("film")) == 0) }
        let failure = try await failure(of: body.opened())
        #expect(failure.reason == .file)
        #expect(failure.message.contains(directory("film")))
        #expect(failure.underlying as? SystemError == SystemError(code: ENOENT))
    }

    @Test("A file that was replaced by a directory or a pipe fails the request", arguments: [true, false])
    func replaced(isDirectory: Bool) async throws {
        let (directory, body) = try form(with: Data("abc".utf8)) { directory in
            #expect(unlink(directory("film")) == 0)
            #expect((isDirectory ? mkdir(directory("film"), 0o700) : mkfifo(directory("film"), 0o600)) == 0)
        }
        let failure = try await failure(of: body.opened())
        #expect(failure.reason == .file)
        #expect(failure.message.contains(directory("film")))
    }

    @Test("A file that is removed while it is open is sent completely")
    func removedMeanwhile() async throws {
        let (directory, body) = try form(with: Data(count: 600_000))
        let next = try body.opened()
        var count = 0
        for _ in 0..<2 { count += try await next()?.count ?? 0 }
        #expect(unlink(directory("film")) == 0)
        while let piece = try await next() { count += piece.count }
        guard case .stream(let length, _, _) = body.content else { return }
        #expect(count == length)
    }

    @Test(
        "A stream that does not have its declared length fails the request",
        arguments: [
            (["abc"], 4, "ended after 3 of the declared 4 bytes."), ([], 1, "ended after 0 of the declared 1 bytes."),
            (["abc"], 2, "has more than the declared 2 bytes."),
            (["ab", "c"], 2, "has more than the declared 2 bytes."),
            (["ab", "", "c"], 2, "has more than the declared 2 bytes."),
            (["a"], 0, "has more than the declared 0 bytes."),
        ], [true, false])
    func length(sample: (pieces: [String], length: Int, words: String), isLast: Bool) async throws {
        var form = try MultipartBody()
        try form.append(.stream(stream(sample.pieces.map { Data($0.utf8) }), length: sample.length, name: "live"))
        if !isLast { try form.append(.field("b", "2")) }
        let failure = try await failure(of: RequestBody.multipart(form).opened())
        #expect(failure.reason == .invalidRequest)
        #expect(failure.phase == .sending)
        #expect(failure.message == "The stream of the part “live” \(sample.words)")
    }

    @Test("Bytes beyond the declared length of a stream are never delivered")
    func neverTooMuch() async throws {
        var form = try MultipartBody()
        try form.append(.stream(stream([Data("ab".utf8), Data("c".utf8)]), length: 2, name: "live"))
        let next = try RequestBody.multipart(form).opened()
        let head = try #require(try await next())
        #expect(head.suffix(4).elementsEqual("\r\n\r\n".utf8))
        #expect(try await next() == Data("ab".utf8))
        await #expect(throws: RequestFailure.self) { try await next() }
    }

    @Test("The error of a part's sequence is thrown unchanged, also by later reads")
    func broken() async throws {
        let pieces = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("a".utf8))
            continuation.finish(throwing: Broken())
        }
        var form = try MultipartBody()
        try form.append(.stream(pieces, length: 1, name: "live"))
        let next = try RequestBody.multipart(form).opened()
        _ = try await next()
        #expect(try await next() == Data("a".utf8))
        for _ in 0..<2 { await #expect(throws: Broken.self) { try await next() } }
    }

    @Test("A body with a stream is sent once, and a second attempt fails")
    func oneShot() async throws {
        var form = try MultipartBody()
        try form.append(.field("a", "1"))
        #expect(RequestBody.multipart(form).isReplayable)
        try form.append(.stream(stream([Data("x".utf8)]), length: nil, name: "live"))
        let body = RequestBody.multipart(form)
        #expect(!form.isReplayable)
        #expect(!body.isReplayable)
        // An attempt that did not reach the stream has not consumed it.
        _ = try body.opened()
        #expect(try await body.pieces().count == 3)
        let failure = try await failure(of: body.opened())
        #expect(failure.reason == .notReplayable)
    }

    @Test("Reading endless empty chunks stops when the task is cancelled")
    func cancelled() async throws {
        var form = try MultipartBody()
        try form.append(.stream(Empties(), length: nil, name: "live"))
        let next = try RequestBody.multipart(form).opened()
        _ = try await next()
        let reading = Task { try await next() }
        reading.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await reading.value }
        #expect(failure?.reason == .cancelled)
    }

    @Test("An attempt that is released before its end leaves no file open")
    func dropped() async throws {
        let (directory, body) = try form(with: Data(count: 1_200_000))
        for _ in 0..<20 {
            let next = try body.opened()
            _ = try await next()
            _ = try await next()
        }
        #expect(try openCount(of: directory("film")) == 0)
    }

    @Test("Two concurrent attempts do not disturb each other")
    func twoAtOnce() async throws {
        let (directory, body) = try form(with: Data((0..<1_200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }))
        async let first = body.pieces()
        async let second = body.pieces()
        #expect(try await first == second)
        #expect(try openCount(of: directory("film")) == 0)
    }

    @Test("A body reports its progress with the total length from the start")
    func progress() async throws {
        let (directory, body) = try form(with: Data(count: 1_200_000))
        let (report, values) = ProgressReport.stream()
        let sent = try await body.reporting(to: report).pieces().reduce(0) { $0 + $1.count }
        var last: TransferProgress?
        for await value in values { last = value }
        #expect(last?.bytes == Int64(sent))
        #expect(last?.expected == Int64(sent))
        #expect(try openCount(of: directory("film")) == 0)
    }
}
