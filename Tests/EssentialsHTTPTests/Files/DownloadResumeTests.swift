import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct DownloadResumeTests {
    private typealias Response = ScriptedTransport.Response

    private static let broken = RequestFailure(.interrupted, "It ended.")
    private static let film = "abcdefghij"

    private static let resuming: DownloadOptions = {
        var options = DownloadOptions()
        options.resumes = true
        return options
    }()

    private func download(
        _ directory: ScratchDirectory, _ options: DownloadOptions = resuming, _ responses: Response...,
        request: TransportRequest? = nil
    ) async throws -> (Result<DownloadedFile, RequestFailure>, [TransportRequest]) {
        let transport = ScriptedTransport(responses)
        let request = try request ?? .film()
        let result: Result<DownloadedFile, RequestFailure>
        do throws(RequestFailure) {
            result = .success(try await transport.download(request, to: directory("film"), options: options))
        } catch { result = .failure(error) }
        return (result, transport.requests)
    }

    /// Leaves a partial file with the first four bytes.
    private func breakOff(
        _ directory: ScratchDirectory, _ fields: HTTPFields = [.eTag: "\"v1\"", .contentLength: "10"]
    ) async throws {
        let (result, _) = try await download(
            directory, Self.resuming, Response(200, fields, ["ab", "cd"], failure: Self.broken))
        #expect(throws: RequestFailure.self) { try result.get() }
    }

    private func rest(_ from: Int = 4, _ range: String? = nil, _ fields: HTTPFields = [:]) -> Response {
        var fields = fields
        fields[.contentRange] = range ?? "bytes \(from)-9/10"
        return Response(206, fields, [String(Self.film.dropFirst(from))])
    }

    @Test("An interrupted download resumes where it stopped, and both files beside it are removed")
    func goesOn() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        #expect(directory.text("film.part") == "abcd")
        #expect(try directory.names == ["film.part", "film.part.validator"])
        let (result, requests) = try await download(directory, Self.resuming, rest())
        let file = try result.get()
        #expect(file.bytes == 10)
        #expect(file.resumedFrom == 4)
        #expect(file.status.code == 206)
        #expect(directory.text("film") == Self.film)
        #expect(try directory.names == ["film"])
        let asked = try #require(requests.first)
        #expect(asked.headerFields == [.acceptEncoding: "identity", .range: "bytes=4-", .ifRange: "\"v1\""])
        #expect(!asked.options.decompresses)
        #expect(asked.options.delivery == .streamed)
    }

    @Test("A download can be interrupted repeatedly")
    func againAndAgain() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        for offset in 4..<9 {
            let next = Response(
                206, [.contentRange: "bytes \(offset)-9/10"], [String(Array(Self.film)[offset])], failure: Self.broken)
            let (result, _) = try await download(directory, Self.resuming, next)
            #expect(throws: RequestFailure.self) { try result.get() }
            #expect(directory.text("film.part") == String(Self.film.prefix(offset + 1)))
        }
        let (result, _) = try await download(directory, Self.resuming, rest(9))
        #expect(try result.get().resumedFrom == 9)
        #expect(directory.text("film") == Self.film)
    }

    @Test("The first attempt requests the whole file without compression")
    func firstAttempt() async throws {
        let directory = try ScratchDirectory()
        let (result, requests) = try await download(directory, Self.resuming, Response(200, [:], [Self.film]))
        #expect(try result.get().bytes == 10)
        #expect(requests.first?.headerFields == [.acceptEncoding: "identity"])
        #expect(try directory.names == ["film"])
    }

    @Test("A file that changed on the server is downloaded again")
    func changed() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, _) = try await download(
            directory, Self.resuming, Response(200, [.eTag: "\"v2\"", .contentLength: "3"], ["xyz"]))
        #expect(try result.get().resumedFrom == 0)
        #expect(directory.text("film") == "xyz")
        #expect(try directory.names == ["film"])
    }

    @Test("An interrupted new download of a changed file has the new validator")
    func changedAndBroken() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let anew = Response(200, [.eTag: "\"v2\"", .contentLength: "10"], ["x"], failure: Self.broken)
        let (result, _) = try await download(directory, Self.resuming, anew)
        #expect(throws: RequestFailure.self) { try result.get() }
        #expect(directory.text("film.part") == "x")
        let (_, requests) = try await download(directory, Self.resuming, rest(1))
        #expect(requests.first?.headerFields[.ifRange] == "\"v2\"")
        #expect(directory.text("film") == "xbcdefghij")
    }

    @Test("A partial file that is already complete is moved to its destination")
    func complete() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, requests) = try await download(
            directory, Self.resuming, Response(416, [.contentRange: "bytes */4"], ["no such range"]))
        let file = try result.get()
        #expect(file.bytes == 4)
        #expect(file.resumedFrom == 4)
        #expect(requests.count == 1)
        #expect(directory.text("film") == "abcd")
        #expect(try directory.names == ["film"])
    }

    @Test(
        "A partial file of another version is not used, even if its length fits",
        arguments: [
            [.eTag: "\"v2\""], [.eTag: "W/\"v1\""], [.eTag: "\"v2\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func contradictedLength(fields: HTTPFields) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        var fields = fields
        fields[.contentRange] = "bytes */4"
        let (result, requests) = try await download(
            directory, Self.resuming, Response(416, fields), Response(200, [:], ["wxyz"]))
        #expect(try result.get().resumedFrom == 0)
        #expect(requests.map { $0.headerFields[.range] } == ["bytes=4-", nil])
        #expect(directory.text("film") == "wxyz")
    }

    @Test("A partial file with a hard link is refused, and the linked file is not changed")
    func hardLink() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        #expect(link(directory("film.part"), directory("other")) == 0)
        let (result, requests) = try await download(directory, Self.resuming, rest())
        let failure = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(failure?.reason == .file)
        #expect(failure?.message.contains("2 names") == true)
        #expect(requests.isEmpty)
        #expect(directory.text("other") == "abcd")
        #expect(unlink(directory("other")) == 0)
        let (second, _) = try await download(directory, Self.resuming, rest())
        #expect(try second.get().resumedFrom == 4)
    }

    @Test(
        "A partial file that the server cannot resume is discarded, once",
        arguments: ["bytes */3", "bytes */*", "", "lines */4"])
    func unsatisfied(range: String) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let refusal = Response(416, [.contentRange: range])
        let (result, requests) = try await download(directory, Self.resuming, refusal, Response(200, [:], ["xyz"]))
        #expect(try result.get().bytes == 3)
        #expect(requests.map { $0.headerFields[.range] } == ["bytes=4-", nil])
        #expect(directory.text("film") == "xyz")
        try FileManager.default.removeItem(atPath: directory("film"))
        try await breakOff(directory)
        let (second, more) = try await download(directory, Self.resuming, refusal, refusal)
        #expect(throws: RequestFailure.self) { try second.get() }
        #expect(more.count == 2)
    }

    @Test(
        "A partial response that does not match the request fails, and nothing remains",
        arguments: [
            "", "bytes 3-9/10", "bytes 5-9/10", "bytes 4-9", "bytes 9-4/10", "bytes 4-10/10", "bytes */10",
            "lines 4-9/10",
            "bytes 4-9/x", "bytes 4-99999999999999999999/*", "bytes -4-9/10", "bytes 4-9/10, bytes 4-9/10",
        ])
    func misfit(range: String) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, _) = try await download(directory, Self.resuming, rest(4, range))
        let failure = #expect(throws: RequestFailure.self) { try result.get() }
        #expect(failure?.reason == .protocolViolation)
        #expect(try directory.names.isEmpty)
    }

    @Test(
        "A partial response whose fields contradict the request is refused",
        arguments: [
            [.eTag: "\"v2\""], [.eTag: "W/\"v1\""], [.contentLength: "5"], [.contentEncoding: "gzip"],
        ] as [HTTPFields])
    func contradiction(fields: HTTPFields) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, _) = try await download(directory, Self.resuming, rest(4, nil, fields))
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .protocolViolation)
        #expect(try directory.names.isEmpty)
    }

    @Test(
        "A partial response may repeat the known validator and length",
        arguments: [[.eTag: "\"v1\""], [.contentLength: "6"]] as [HTTPFields])
    func agreement(fields: HTTPFields) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, _) = try await download(directory, Self.resuming, rest(4, nil, fields))
        #expect(try result.get().bytes == 10)
    }

    @Test("A server may send less than the rest, and the next attempt resumes there")
    func shortPart() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, _) = try await download(
            directory, Self.resuming, Response(206, [.contentRange: "bytes 4-6/10"], ["efg"]))
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .interrupted)
        #expect(directory.text("film.part") == "abcdefg")
        _ = try await download(directory, Self.resuming, rest(7)).0.get()
        #expect(directory.text("film") == Self.film)
    }

    @Test("A partial response for a file of unknown length is accepted")
    func unknownTotal() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, _) = try await download(directory, Self.resuming, rest(4, "bytes 4-9/*"))
        #expect(try result.get().bytes == 10)
    }

    // MARK: Validators

    @Test(
        "Without a strong validator no partial file remains",
        arguments: [
            [:], [.eTag: "W/\"v1\""], [.eTag: "v1"], [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
            [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT"],
            [.lastModified: "Sunday, 06-Nov-94 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:50:37 GMT"],
            [.eTag: "W/\"1\"", .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Mon, 07 Nov 1994 08:49:37 GMT"],
        ] as [HTTPFields])
    func withoutValidator(fields: HTTPFields) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory, fields)
        #expect(try directory.names.isEmpty)
    }

    @Test("A modification date that is old enough is a validator")
    func date() async throws {
        let directory = try ScratchDirectory()
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        try await breakOff(directory, [.lastModified: modified, .date: "Sun, 06 Nov 1994 08:49:38 GMT"])
        let (result, requests) = try await download(directory, Self.resuming, rest(4, nil, [.lastModified: modified]))
        #expect(requests.first?.headerFields[.ifRange] == modified)
        #expect(try result.get().bytes == 10)
    }

    @Test(
        "A partial file of another resource is not resumed",
        arguments: ["", "essentials", "partial download 1\nhttps://example.com/other\n\"v1\"\n"])
    func otherRecord(record: String) async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        try directory.write(record, "film.part.validator")
        let (result, requests) = try await download(directory, Self.resuming, Response(200, [:], ["xyz"]))
        #expect(requests.first?.headerFields[.range] == nil)
        #expect(try result.get().bytes == 3)
        #expect(try directory.names == ["film"])
    }

    @Test("The record contains the URL without its query")
    func recordHidesQuery() async throws {
        let directory = try ScratchDirectory()
        let request = try TransportRequest.film("?token=secret")
        let first = Response(200, [.eTag: "\"v1\""], ["abcd"], failure: Self.broken)
        _ = try await download(directory, Self.resuming, first, request: request)
        let record = try #require(directory.text("film.part.validator"))
        #expect(record.contains("https://example.com/films/1.mp4\n"))
        #expect(!record.contains("secret"))
        let (result, _) = try await download(
            directory, Self.resuming, rest(), request: try .film("?token=another"))
        #expect(try result.get().resumedFrom == 4)
    }

    @Test("An error status keeps the partial file")
    func refusal() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        let (result, _) = try await download(directory, Self.resuming, Response(503, [:], ["later"]))
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .status)
        #expect(directory.text("film.part") == "abcd")
        _ = try await download(directory, Self.resuming, rest()).0.get()
        #expect(directory.text("film") == Self.film)
    }

    @Test("An error status at the first attempt leaves nothing")
    func firstRefusal() async throws {
        let directory = try ScratchDirectory()
        _ = try await download(directory, Self.resuming, Response(404))
        #expect(try directory.names.isEmpty)
    }

    @Test("A request that cannot be resumed is refused before it is sent", arguments: 0..<4)
    func unresumable(kind: Int) async throws {
        let directory = try ScratchDirectory()
        var request = try TransportRequest.film()
        switch kind {
        case 0: request.method = .post
        case 1: request.headerFields[.range] = "bytes=1-"
        case 2: request.headerFields[.ifRange] = "\"a\""
        default: request.headerFields[.acceptEncoding] = "gzip"
        }
        let (result, requests) = try await download(directory, Self.resuming, Response(), request: request)
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .invalidRequest)
        #expect(requests.isEmpty)
    }

    @Test("A partial file above the maximum size is discarded")
    func tooLarge() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        var options = Self.resuming
        options.maximumSize = 9
        let (result, _) = try await download(directory, options, rest())
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .tooLarge)
        #expect(try directory.names.isEmpty)
    }

    // MARK: The partial file

    @Test("The second of two downloads to one name fails, and the first continues")
    func twoAtOnce() async throws {
        let directory = try ScratchDirectory()
        let request = try TransportRequest.film()
        let second = Mutex<RequestFailure?>(nil)
        let transport = ScriptedTransport(
            Response(200, [.eTag: "\"v1\""], ["abc", "def"]) { number in
                guard number == 1 else { return }
                do throws(RequestFailure) {
                    let other = ScriptedTransport(Response(200, [:], ["xyz"]))
                    _ = try await other.download(request, to: directory("film"), options: Self.resuming)
                } catch { second.withLock { $0 = error } }
            })
        _ = try await transport.download(request, to: directory("film"), options: Self.resuming)
        let failure = second.withLock { $0 }
        #expect(failure?.reason == .file)
        #expect(failure?.message.contains("Another download") == true)
        #expect(failure?.message.contains(directory("film.part")) == true)
        #expect(directory.text("film") == "abcdef")
        #expect(try directory.names == ["film"])
    }

    @Test(
        "A partial file that is a symbolic link, a directory or a pipe is not followed",
        arguments: ["link", "directory", "pipe"])
    func strangePart(kind: String) async throws {
        let directory = try ScratchDirectory()
        try directory.write("precious", "target")
        switch kind {
        case "link": #expect(symlink(directory("target"), directory("film.part")) == 0)
        case "pipe": #expect(mkfifo(directory("film.part"), 0o600) == 0)
        default:
            try FileManager.default.createDirectory(atPath: directory("film.part"), withIntermediateDirectories: false)
        }
        let (result, requests) = try await download(directory, Self.resuming, Response(200, [:], ["xyz"]))
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .file)
        #expect(requests.isEmpty)
        #expect(directory.text("target") == "precious")
    }

    @Test("A partial file of another user is refused", .enabled(if: geteuid() == 0, "Needs the superuser."))
    func foreignPart() async throws {
        let directory = try ScratchDirectory()
        try await breakOff(directory)
        #expect(chown(directory("film.part"), 65_534, 65_534) == 0)
        let (result, _) = try await download(directory, Self.resuming, rest())
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.message.contains("another user") == true)
        #expect(directory.text("film.part") == "abcd")
    }

    @Test("A full disk keeps the partial file, and the next attempt resumes")
    func fullDisk() async throws {
        let directory = try ScratchDirectory()
        var calls = FileCalls.system
        let write = calls.write
        calls.write = { descriptor, bytes in
            bytes.elementsEqual("efgh".utf8) ? -Int(ENOSPC) : write(descriptor, bytes)
        }
        let transport = ScriptedTransport(Response(200, [.eTag: "\"v1\""], ["abcd", "efgh"]))
        let failure = await #expect(throws: RequestFailure.self) {
            try await FileDownload.run(
                .film(), to: directory("film"), options: Self.resuming, progress: nil, calls: calls
            ) { request throws(RequestFailure) in try await transport.send(request) }
        }
        #expect((failure?.underlying as? SystemError)?.code == ENOSPC)
        #expect(directory.text("film.part") == "abcd")
        #expect(try await download(directory, Self.resuming, rest()).0.get().resumedFrom == 4)
        #expect(directory.text("film") == Self.film)
    }

    @Test("If the destination appears meanwhile, the download is refused and keeps its partial file")
    func refuseAtEnd() async throws {
        let directory = try ScratchDirectory()
        var options = Self.resuming
        options.existing = .refuse
        let (result, _) = try await download(
            directory, options,
            Response(200, [.eTag: "\"v1\""], ["abcd"]) { number in
                if number == 1 { try? directory.write("old", "film") }
            })
        #expect(#expect(throws: RequestFailure.self) { try result.get() }?.reason == .file)
        #expect(directory.text("film") == "old")
        #expect(directory.text("film.part") == "abcd")
    }

    @Test("A cancelled download keeps its partial file")
    func cancelled() async throws {
        let directory = try ScratchDirectory()
        let request = try TransportRequest.film()
        let (reached, reaching) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedTransport(
            Response(200, [.eTag: "\"v1\""], ["abcd", "ef"]) { number in
                guard number == 1 else { return }
                reaching.yield()
                while !Task.isCancelled { await Task.yield() }
            })
        let task = Task { try await transport.download(request, to: directory("film"), options: Self.resuming) }
        for await _ in reached { break }
        task.cancel()
        let failure = await #expect(throws: RequestFailure.self) { try await task.value }
        #expect(failure?.reason == .cancelled)
        #expect(directory.text("film.part") == "abcd")
        #expect(try await download(directory, Self.resuming, rest()).0.get().resumedFrom == 4)
    }
}
