import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

@Suite("Retried downloads", .timeLimit(.minutes(5))) struct DownloadRetryTests {
    private static let film = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    /// Sends the film from the requested byte, and closes the connection in the first responses.
    private func serve(_ request: ServerRequest, faults: Int) -> ServerReply {
        let start = request.header("Range").flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
        var headers = [("ETag", "\"1\""), ("Content-Length", "\(Self.film.count - start)")]
        if start > 0 { headers.append(("Content-Range", "bytes \(start)-\(Self.film.count - 1)/\(Self.film.count)")) }
        let head = ServerStep.head(status: start > 0 ? 206 : 200, headers: headers)
        guard request.number < faults else { return .raw([head, .send(Array(Self.film[start...])), .close]) }
        return .raw([head, .send(Array(Self.film[start..<start + 50_000])), .close])
    }

    private func withService(
        faults: Int, retry: RetryPolicy,
        _ body: (HTTPDataRequestService, LoopbackServer, String) async throws -> Void
    ) async throws {
        let server = try LoopbackServer { [self] in serve($0, faults: faults) }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = retry
        configuration.retry.backoff = .exponential(base: .milliseconds(1), cap: .milliseconds(2))
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(server.url), transport: try CurlTransport(),
            configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(service, server, folder.appendingPathComponent("film").path)) } catch {
            result = .failure(error)
        }
        await service.shutdown()
        server.stop()
        try result.get()
    }

    private var resumed: DownloadOptions {
        var options = DownloadOptions()
        options.resumes = true
        return options
    }

    @Test("A download whose body breaks off goes on where it stopped, and its progress never goes back")
    func resumes() async throws {
        let seen = Mutex<[Int64]>([])
        try await withService(faults: 2, retry: .attempts(3)) { service, server, path in
            let report = ProgressReport(every: .zero) { progress in seen.withLock { $0.append(progress.bytes) } }
            let file = try await service.download(
                DataRequest(.get, "film"), to: path, options: resumed, progress: report)
            #expect(file.bytes == 200_000)
            #expect(try Data(contentsOf: URL(filePath: path)) == Data(Self.film))
            #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=50000-", "bytes=100000-"])
            #expect(server.requests.map { $0.header("If-Range") } == [nil, "\"1\"", "\"1\""])
        }
        let bytes = seen.withLock { $0 }
        #expect(bytes == bytes.sorted())
        #expect(bytes.last == 200_000)
    }

    @Test("A download that breaks off more often than the policy allows fails with its attempts, and can be resumed")
    func givesUp() async throws {
        try await withService(faults: 3, retry: .attempts(2)) { service, server, path in
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.download(DataRequest(.get, "film"), to: path, options: resumed)
            }
            #expect((failure?.reason, failure?.attempt) == (.interrupted, 2))
            #expect(failure?.earlierFailures.map(\.reason) == [.interrupted])
            #expect(server.requestCount == 2)
            let file = try await service.download(DataRequest(.get, "film"), to: path, options: resumed)
            #expect(file.bytes == 200_000)
            #expect(server.requests.last?.header("Range") == "bytes=150000-")
        }
    }

    @Test("A download without the option to resume is not retried once its body has begun")
    func notResumed() async throws {
        try await withService(faults: 1, retry: .attempts(3)) { service, server, path in
            let failure = await #expect(throws: RequestFailure.self) {
                try await service.download(DataRequest(.get, "film"), to: path)
            }
            #expect(failure?.reason == .interrupted)
            #expect(server.requestCount == 1)
        }
    }
}
