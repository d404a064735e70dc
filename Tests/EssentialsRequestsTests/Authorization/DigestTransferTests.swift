import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Digest transfers", .timeLimit(.minutes(5)))
struct DigestTransferTests {
    private func pieces() -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(Data("pie".utf8))
            continuation.yield(Data("ces".utf8))
            continuation.finish()
        }
    }

    @Test("A Digest challenge sends a body from memory, a file or parts again, with progress reported once")
    func replayable() async throws {
        var multipart = try MultipartBody(boundary: "boundary")
        try multipart.append(.field("name", "Ada"))
        let size = try Data(contentsOf: URL(filePath: #filePath)).count
        let bodies: [(DataRequest.Body, Int)] = [
            (.text("hello"), 5), (try .file(#filePath), size), (.multipart(multipart), multipart.contentLength ?? -1),
        ]
        for (body, count) in bodies {
            for reports in [false, true] {
                let digest = DigestServer { .response(body: "\($0.body.count)") }
                try await withDigestService(digest) { service, server in
                    var request = DataRequest(.put, "films/1", body: body)
                    let seen = Mutex<[Int64]>([])
                    if reports {
                        request.uploadProgress = ProgressReport { progress in
                            seen.withLock { $0.append(progress.bytes) }
                        }
                    }
                    let response = try await service.send(request)
                    #expect(try await response.body.collect(upTo: 100) == Data("\(count)".utf8))
                    #expect(server.answers == [false, true])
                    #expect(server.requests.map(\.body.count) == [count, count])
                    #expect(seen.withLock { $0.last } == (reports ? Int64(count) : nil))
                    #expect(seen.withLock { $0 == $0.sorted() })
                }
            }
        }
    }

    @Test("A Digest challenge to a streamed body fails with the 401, and the next stream is sent with credentials")
    func stream() async throws {
        try await withDigestService { service, server in
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.send(DataRequest(.post, "films", body: .stream(pieces(), length: nil)))
            }
            #expect(failure?.reason == .status)
            #expect(failure?.response?.head.status == .unauthorized)
            #expect(failure?.remedy?.contains("could not be sent again") == true)
            let response = try await service.send(DataRequest(.post, "films", body: .stream(pieces(), length: 6)))
            #expect(try await response.body.collect(upTo: 100) == Data("secret pieces".utf8))
            #expect(server.answers == [false, true])
        }
    }

    @Test("A Digest challenge with auth-int hashes bytes, and is refused for a stream or file with a remedy")
    func bodyHash() async throws {
        let digest = DigestServer(algorithm: "SHA-256", .sha256, qop: "auth-int")
        try await withDigestService(digest) { service, server in
            for progress in [nil, ProgressReport { _ in }] {
                var request = DataRequest(.post, "films", body: .text("hello"))
                request.uploadProgress = progress
                let response = try await service.send(request)
                #expect(try await response.body.collect(upTo: 100) == Data("secret hello".utf8))
            }
            #expect(server.answers == [false, true, true])
            for body in [DataRequest.Body.stream(pieces(), length: nil), try .file(#filePath)] {
                let failure = await #expect(throws: RequestFailure.self) {
                    try await service.send(DataRequest(.post, "films", body: body))
                }
                #expect(
                    failure?.remedy
                        == "The server requires a hash of the body (auth-int). Send the body from memory.")
            }
            #expect(server.answers == [false, true, true, false, false])
            #expect(digest.counts == ["nonce-0": [1, 2]])
        }
    }

    @Test("A streamed response after a Digest challenge reads a short challenge body and cancels a long one")
    func streamedAnswer() async throws {
        for (size, connections) in [(100, 1), (3_000_000, 2)] {
            let digest = DigestServer(refusal: String(repeating: "x", count: size))
            try await withDigestService(digest) { service, server in
                var request = DataRequest(.get, "film")
                request.options.delivery = .streamed
                let response = try await service.send(request)
                #expect(service.requestsInFlight == 1)
                #expect(try await response.body.collect(upTo: 100) == Data("secret ".utf8))
                #expect(service.requestsInFlight == 0)
                #expect(response.body.ending?.metrics.bodyBytesReceived == 7)
                #expect(server.answers == [false, true])
                #expect(server.connectionCount == connections)
            }
        }
    }

    @Test("A Digest download creates a file, and none if the password is wrong")
    func download() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let digest = DigestServer { _ in .response(body: "film") }
        try await withDigestService(digest) { service, server in
            for name in ["a", "b"] {
                let file = try await service.download("film", to: directory.path + "/" + name)
                #expect(file.bytes == 4)
                #expect(try Data(contentsOf: directory.appending(path: name)) == Data("film".utf8))
            }
            #expect(server.answers == [false, true, true])
        }
        try await withDigestService(digest, password: "wrong") { service, server in
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.download("film", to: directory.path + "/c")
            }
            #expect(failure?.response?.head.status == .unauthorized)
            #expect(server.answers == [false, true])
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["a", "b"])
    }

    @Test("A resumed Digest download sends credentials for the range request")
    func resumed() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let digest = DigestServer { request in
            let fields = [("ETag", "\"1\""), ("Accept-Ranges", "bytes")]
            if request.header("Range") == "bytes=4-" {
                return .response(status: 206, headers: fields + [("Content-Range", "bytes 4-7/8")], body: "5678")
            }
            return .raw([.head(headers: fields + [("Content-Length", "8")]), .text("1234"), .close])
        }
        try await withDigestService(digest) { service, server in
            var options = DownloadOptions()
            options.resumes = true
            let path = directory.path + "/film"
            await #expect(throws: RequestFailure.self) {
                try await service.download(DataRequest(.get, "film"), to: path, options: options, progress: nil)
            }
            try await service.download(DataRequest(.get, "film"), to: path, options: options, progress: nil)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("12345678".utf8))
            #expect(server.answers == [false, true, true])
            #expect(server.requests.map { $0.header("Range") } == [nil, nil, "bytes=4-"])
        }
    }
}
