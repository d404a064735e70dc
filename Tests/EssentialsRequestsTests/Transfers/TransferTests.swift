import Dispatch
import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Transfers through a service")
struct TransferTests {
    private func withService(
        _ handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (HTTPDataRequestService, LoopbackServer, String) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let server = try LoopbackServer(handler: handler)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url + "/v1"), transport: try CurlTransport())
        do {
            try await body(service, server, directory.path)
        } catch {
            await service.shutdown()
            throw error
        }
        await service.shutdown()
        server.stop()
    }

    private func content(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    @Test("A download is prepared like every request, follows redirects, and moves the file to its destination")
    func download() async throws {
        try await withService({ request in
            request.path == "/v1/film"
                ? .response(status: 302, headers: [("Location", "/v1/other?\(request.query("p") ?? "")")])
                : .response(body: "film")
        }) { service, server, directory in
            service.setAuthorization(try .bearer("t"))
            let file = try await service.download("film", parameters: ["p": 1], to: directory + "/a")
            #expect(file.bytes == 4)
            #expect(try content(directory + "/a") == "film")
            #expect(server.requests.map(\.target) == ["/v1/film?p=1", "/v1/other?1"])
            #expect(server.requests.map { $0.header("Authorization") } == ["Bearer t", "Bearer t"])
            #expect(server.requests.map { $0.header("Accept") } == ["*/*", "*/*"])
            // Any method is possible, because the request decides.
            try await service.download(
                DataRequest(.post, "film?p=2", body: .text("x")), to: directory + "/b",
                options: DownloadOptions(), progress: nil)
            #expect(try content(directory + "/b") == "film")
        }
    }

    @Test("A download that expects no status at all is refused before it is sent, even if it can be resumed")
    func nothingExpected() async throws {
        try await withService({ _ in .response(body: "film") }) { service, server, directory in
            var request = DataRequest(.get, "film")
            request.expectedStatus = []
            var options = DownloadOptions()
            options.resumes = true
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.download(request, to: directory + "/a", options: options)
            }
            #expect(failure?.reason == .invalidRequest)
            #expect(server.requestCount == 0)
        }
    }

    @Test(
        "A download saves each status that its request expects, with and without resuming",
        arguments: [false, true],
        [StatusExpectation.any, 404, [400...499], .matching { $0 == 404 }, .codes([200, 404])])
    func expected(resumes: Bool, expectation: StatusExpectation) async throws {
        /// Sends downloads by the default of the protocol.
        struct Wrapper: DataRequestDecorator {
            let next: any DataRequestService
            func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
                try await next.send(request)
            }
        }
        try await withService({ _ in .response(status: 404, body: "none") }) { service, server, directory in
            var options = DownloadOptions()
            options.resumes = resumes
            var request = DataRequest(.get, "film")
            request.expectedStatus = expectation
            let wrapped = Wrapper(next: service)
            for (name, sender) in [("a", service), ("b", wrapped)] as [(String, any DataRequestService)] {
                let file = try await sender.download(request, to: "\(directory)/\(name)", options: options)
                #expect(file.status == .notFound)
                #expect(try content("\(directory)/\(name)") == "none")
            }
            let open = HTTPDataRequestService.forAnyServer(over: try CurlTransport())
            let file = try await open.download(
                DataRequest(at: server.url + "/v1/film", expecting: expectation), to: directory + "/c",
                options: options)
            #expect(file.status == .notFound)
            await open.shutdown()
        }
    }

    @Test("A resumable download of an object that is always compressed is decoded, and cannot be resumed")
    func alwaysCompressed() async throws {
        let text = String(repeating: "compressed text ", count: 8)
        let packed = [UInt8](
            try #require(Data(base64Encoded: "H4sIAAAAAAACA0vOzy0oSi0uTk1RKEmtKFFIpjMfAKL5v2aAAAAA")))
        try await withService({ _ in
            .response(headers: [("Content-Encoding", "gzip"), ("ETag", "\"1\"")], body: packed)
        }) { service, server, directory in
            var options = DownloadOptions()
            options.resumes = true
            let file = try await service.download("film", to: directory + "/a", options: options)
            #expect(file.bytes == 128)
            #expect(try content(directory + "/a") == text)
            let accepted = server.requests.map { $0.header("Accept-Encoding") }
            #expect(accepted.first == "identity")
            #expect(accepted.count == 2 && accepted.last??.contains("gzip") == true)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["a"])
        }
    }

    @Test("A download with an unexpected status keeps the old file, and the failure contains the response")
    func unexpected() async throws {
        try await withService({ request in
            request.path == "/v1/203" ? .response(status: 203, body: "other") : .response(status: 404, body: "none")
        }) { service, _, directory in
            try Data("old".utf8).write(to: URL(filePath: directory + "/a"))
            let options = {
                var options = DownloadOptions()
                options.existing = .replace
                return options
            }()
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.download("film", to: directory + "/a", options: options)
            }
            #expect(failure?.reason == .status)
            #expect(failure?.response?.body == Data("none".utf8))
            #expect(try content(directory + "/a") == "old")
            var request = DataRequest(.get, "203")
            request.expectedStatus = [200...200]
            let other = await #expect(throws: RequestFailure.self) {
                try await service.download(request, to: directory + "/b", options: DownloadOptions(), progress: nil)
            }
            #expect(other?.reason == .status)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["a"])
        }
    }

    @Test(
        "A download's progress is reported on the queue, by the token and as a stream, before the end"
    )
    func downloadProgress() async throws {
        try await withService({ _ in .response(body: String(repeating: "x", count: 300_000)) }) {
            service, _, directory in
            let events = Mutex<[String]>([])
            let queue = DispatchQueue(label: "app")
            let token = Mutex<CancellableToken?>(nil)
            let file = try await withCheckedContinuation { continuation in
                let started = service.download(
                    DataRequest(.get, "film"), to: directory + "/a", completionQueue: queue,
                    progress: { progress in
                        events.withLock { $0.append("\(progress.bytes)/\(progress.expected ?? -1)") }
                    },
                    completion: { result in
                        events.withLock { $0.append("end") }
                        continuation.resume(returning: result)
                    })
                token.withLock { $0 = started }
            }.get()
            #expect(file.bytes == 300_000)
            let seen = events.withLock { $0 }
            #expect(Array(seen.suffix(2)) == ["300000/300000", "end"])
            #expect(token.withLock { $0?.progress?.bytes } == 300_000)
            #expect(token.withLock { $0?.state } == .finished)
        }
    }

    @Test("A cancelled download fails with cancelled and leaves no file")
    func cancelledDownload() async throws {
        let arrived = LoopbackGate()
        try await withService({ _ in
            arrived.open()
            return .raw([.head(headers: [("Content-Length", "10")]), .text("123"), .gate(LoopbackGate())])
        }) { service, _, directory in
            let result = await withCheckedContinuation { continuation in
                let token = service.download(DataRequest(.get, "film"), to: directory + "/a") {
                    continuation.resume(returning: $0)
                }
                Task {
                    await arrived.opened()
                    token.cancel()
                }
            }
            let failure = #expect(throws: RequestFailure.self) { try result.get() }
            #expect(failure?.reason == .cancelled)
            let left = try FileManager.default.contentsOfDirectory(atPath: directory)
            #expect(left.isEmpty)
        }
    }

    @Test("An upload of a file, a stream or parts is complete, and its progress is reported")
    func upload() async throws {
        try await withService({ .response(status: 201, body: "\($0.body.count)") }) { service, server, directory in
            let text = String(repeating: "0123456789", count: 20_000)
            try Data(text.utf8).write(to: URL(filePath: directory + "/a"))
            var multipart = try MultipartBody(boundary: "boundary")
            try multipart.append(.field("name", "Ada"))
            try multipart.append(.file(directory + "/a", name: "file", fileName: nil, type: nil))
            let (pieces, piece) = AsyncStream.makeStream(of: Data.self)
            piece.yield(Data("12345".utf8))
            piece.yield(Data("67890".utf8))
            piece.finish()
            let bodies: [(DataRequest.Body, Int)] = [
                (try .file(directory + "/a"), 200_000), (.stream(pieces, length: 10), 10),
                (.multipart(multipart), multipart.contentLength ?? -1), (.data(Data(text.utf8)), 200_000),
            ]
            for (body, size) in bodies {
                let last = Mutex<TransferProgress?>(nil)
                let result = await withCheckedContinuation { continuation in
                    service.send(
                        DataRequest(.put, "film", body: body), progress: { value in last.withLock { $0 = value } },
                        completion: { continuation.resume(returning: $0) })
                }
                #expect(try result.get().body.data == Data("\(size)".utf8))
                #expect(last.withLock { $0?.bytes } == Int64(size))
                #expect(server.requests.last?.header("Content-Length") == "\(size)")
            }
            #expect(server.requests[2].header("Content-Type") == "multipart/form-data; boundary=boundary")
            #expect(
                server.requests[2].bodyText.hasPrefix("--boundary\r\nContent-Disposition: form-data; name=\"name\""))
            #expect(server.requests[0].bodyText == text)
        }
    }
}
