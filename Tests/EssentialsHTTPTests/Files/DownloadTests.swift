import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct DownloadTests {
    private typealias Response = ScriptedTransport.Response

    @Test("A download writes the bytes in order and reports the result")
    func wholeFile() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(
            Response(200, [.contentLength: "6", .eTag: "\"a\""], ["ab", "", "cd", "ef"]))
        let file = try await transport.download(.film(), to: directory("film"))
        #expect(directory.text("film") == "abcdef")
        #expect(try directory.names == ["film"])
        #expect(file.path == directory("film"))
        #expect(file.bytes == 6)
        #expect(file.resumedFrom == 0)
        #expect(file.status == .ok)
        #expect(file.headerFields[.eTag] == "\"a\"")
    }

    @Test("A request is sent unchanged except for streamed delivery")
    func request() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(200, [:], ["a"]))
        var request = try TransportRequest.film("?a=b")
        request.headerFields[.accept] = "video/mp4"
        _ = try await transport.download(request, to: directory("film"))
        let asked = try #require(transport.requests.first)
        #expect(asked.options.delivery == .streamed)
        #expect(asked.options.decompresses)
        #expect(asked.headerFields == [.accept: "video/mp4"])
        #expect(asked.url == request.url)
    }

    @Test(
        "An empty body makes an empty file, also with a success status other than 200", arguments: [200, 201, 203, 226])
    func successes(status: Int) async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(status))
        let file = try await transport.download(.film(), to: directory("film"))
        #expect(file.bytes == 0)
        #expect(directory.text("film") == "")
    }

    @Test(
        "A status that is not a success fails with the response and writes nothing",
        arguments: [206, 301, 304, 404, 416, 500])
    func refusals(status: Int) async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        let transport = ScriptedTransport(
            Response(
                status, [.contentType: "text/plain"],
                [String(repeating: "x", count: 60_000), String(repeating: "y", count: 60_000)]))
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.download(.film(), to: directory("film"), options: .replacing)
        }
        #expect(failure?.reason == .status)
        #expect(failure?.host == "example.com")
        #expect(failure?.response?.head.status.code == status)
        #expect(failure?.response?.head.headerFields[.contentType] == "text/plain")
        #expect(failure?.response?.body.count == 64 << 10)
        #expect(directory.text("film") == "old")
        #expect(try directory.names == ["film"])
        #expect(transport.cancelCounts == [1])
    }

    /// Downloads with an expectation.
    private func download(
        _ status: Int, _ fields: HTTPFields = [:], in directory: ScratchDirectory, asking: HTTPFields = [:],
        options: DownloadOptions = DownloadOptions(), expecting: @escaping FileDownload.Expectation
    ) async throws -> DownloadedFile {
        let transport = ScriptedTransport(Response(status, fields, ["text"]))
        var request = try TransportRequest.film()
        request.headerFields = asking
        return try await FileDownload.run(
            request, to: directory("film"), options: options, expecting: expecting
        ) { request throws(RequestFailure) in try await transport.send(request) }
    }

    @Test("A status that the request expects is saved", arguments: [203, 404, 410, 416, 503])
    func expected(status: Int) async throws {
        let directory = try ScratchDirectory()
        let file = try await download(status, in: directory) { $0 == status }
        #expect(file.status.code == status)
        #expect(directory.text("film") == "text")
    }

    @Test("A status that the request does not expect is refused, also if it is a success", arguments: [200, 404])
    func notExpected(status: Int) async throws {
        let directory = try ScratchDirectory()
        let failure = await #expect(throws: RequestFailure.self) {
            try await download(status, in: directory) { $0 == 201 }
        }
        #expect(failure?.reason == .status)
        #expect(try directory.names.isEmpty)
    }

    @Test("An expected status without a body replaces nothing", arguments: [204, 205, 304])
    func expectedWithoutBody(status: Int) async throws {
        let directory = try ScratchDirectory()
        let failure = await #expect(throws: RequestFailure.self) {
            try await download(status, in: directory) { _ in true }
        }
        #expect(failure?.reason == .emptyBody)
    }

    @Test("A part of a file is saved only if the request asks for one and expects it")
    func expectedPart() async throws {
        let directory = try ScratchDirectory()
        let fields: HTTPFields = [.contentRange: "bytes 0-3/9"]
        let unasked = await #expect(throws: RequestFailure.self) {
            try await download(206, fields, in: directory) { _ in true }
        }
        #expect(unasked?.reason == .status)
        var options = DownloadOptions()
        options.resumes = true
        let resumable = await #expect(throws: RequestFailure.self) {
            try await download(206, fields, in: directory, options: options) { _ in true }
        }
        #expect(resumable?.reason == .status)
        #expect(try directory.names.isEmpty)
        let file = try await download(206, fields, in: directory, asking: [.range: "bytes=0-3"]) { $0 == 206 }
        #expect(file.bytes == 4)
    }

    @Test("The body of an error response that is interrupted is included as far as it was received")
    func brokenRefusal() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(
            Response(503, [:], ["soon"], failure: RequestFailure(.interrupted, "It ended.")))
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.download(.film(), to: directory("film"))
        }
        #expect(failure?.reason == .status)
        #expect(failure?.response?.body == Data("soon".utf8))
    }

    @Test("A response without content replaces nothing", arguments: [204, 205])
    func noContent(status: Int) async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        let failure = await #expect(throws: RequestFailure.self) {
            let transport = ScriptedTransport(Response(status))
            return try await transport.download(.film(), to: directory("film"), options: .replacing)
        }
        #expect(failure?.reason == .emptyBody)
        #expect(directory.text("film") == "old")
    }

    @Test("A HEAD request is refused before it is sent")
    func head() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport()
        var request = try TransportRequest.film()
        request.method = .head
        let sent = request
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.download(sent, to: directory("film"))
        }
        #expect(failure?.reason == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }

    @Test("By default an existing file stays, and no request is sent")
    func refusesByDefault() async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        let transport = ScriptedTransport(Response(200, [:], ["new"]))
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.download(.film(), to: directory("film"))
        }
        #expect(failure?.reason == .file)
        #expect(directory.text("film") == "old")
        #expect(transport.requests.isEmpty)
    }

    @Test("An existing file is replaced if the options say so, and its readers keep the old content")
    func replace() async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        let reader = open(directory("film"), O_RDONLY)
        defer { close(reader) }
        let transport = ScriptedTransport(Response(200, [:], ["new"]))
        _ = try await transport.download(.film(), to: directory("film"), options: .replacing)
        #expect(directory.text("film") == "new")
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(read(reader, &buffer, 8) == 3)
        #expect(buffer.prefix(3) == Array("old".utf8)[...])
    }

    @Test("A symbolic link is replaced itself, and its target stays")
    func replaceLink() async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "target")
        #expect(symlink(directory("target"), directory("film")) == 0)
        let transport = ScriptedTransport(Response(200, [:], ["new"]))
        _ = try await transport.download(.film(), to: directory("film"), options: .replacing)
        #expect(directory.text("target") == "old")
        #expect(directory.text("film") == "new")
    }

    @Test("The file has the permissions that the process's umask leaves")
    func permissions() async throws {
        let directory = try ScratchDirectory()
        try directory.write("", "plain")
        _ = try await ScriptedTransport(Response(200, [:], ["new"])).download(.film(), to: directory("film"))
        var (plain, film) = (stat(), stat())
        #expect(stat(directory("plain"), &plain) == 0)
        #expect(stat(directory("film"), &film) == 0)
        let mask = umask(0)
        umask(mask)
        #expect(film.st_mode & 0o777 == 0o666 & ~mask)
    }

    @Test("A destination can have a name of any length that the file system allows", arguments: [1, 200, 255])
    func longNames(length: Int) async throws {
        let directory = try ScratchDirectory()
        let name = String(repeating: "ä", count: length / 2) + String(repeating: "b", count: length % 2)
        _ = try await ScriptedTransport(Response(200, [:], ["new"])).download(.film(), to: directory(name))
        #expect(directory.text(name) == "new")
        #expect(try directory.names == [name])
    }

    @Test("A relative destination is resolved against the current directory")
    func relative() async throws {
        let directory = try ScratchDirectory()
        let up = String(repeating: "../", count: FileManager.default.currentDirectoryPath.split(separator: "/").count)
        let destination = up + directory("film").dropFirst()
        let file = try await ScriptedTransport(Response(200, [:], ["a"])).download(.film(), to: destination)
        #expect(file.path.hasPrefix("/"))
        #expect(directory.text("film") == "a")
    }

    @Test("Each chunk is written before the next one is received")
    func backpressure() async throws {
        let directory = try ScratchDirectory()
        let sizes = Mutex<[Int]>([])
        let transport = ScriptedTransport(
            Response(200, [:], ["ab", "cd", "ef"]) { _ in
                let part = (try? directory.names.first).flatMap { directory.text($0) }
                sizes.withLock { $0.append(part?.utf8.count ?? -1) }
            })
        _ = try await transport.download(.film(), to: directory("film"))
        #expect(sizes.withLock { $0 } == [0, 2, 4, 6])
    }

    @Test("During the transfer the file is hidden and the destination does not exist")
    func hidden() async throws {
        let directory = try ScratchDirectory()
        let seen = Mutex<[String]>([])
        let transport = ScriptedTransport(
            Response(200, [:], ["ab"]) { _ in
                let names = (try? directory.names) ?? []
                seen.withLock { $0 += names }
            })
        _ = try await transport.download(.film(), to: directory("film"))
        let names = seen.withLock { Set($0) }
        #expect(names.count == 1)
        #expect(names.allSatisfy { $0.hasPrefix(".film.") && $0.hasSuffix(".part") })
    }

    @Test("A custom function can send instead of the transport")
    func ownStage() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(200, [:], ["ab"]))
        let file = try await FileDownload.run(.film(), to: directory("film")) { request throws(RequestFailure) in
            var request = request
            request.headerFields[.authorization] = "Bearer x"
            return try await transport.send(request)
        }
        #expect(file.bytes == 2)
        #expect(transport.requests.first?.headerFields[.authorization] == "Bearer x")
    }

    @Test("Many concurrent downloads complete")
    func concurrent() async throws {
        let directory = try ScratchDirectory()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let pieces = (0..<20).map { "\(number)-\($0);" }
                    let transport = ScriptedTransport(Response(200, [:], pieces))
                    _ = try await transport.download(.film(), to: directory("film\(number)"))
                    #expect(directory.text("film\(number)") == pieces.joined())
                }
            }
            try await group.waitForAll()
        }
        #expect(try directory.names.count == 40)
    }
}
