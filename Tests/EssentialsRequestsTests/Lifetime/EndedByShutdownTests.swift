import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("Requests of every kind that a shutdown ends", .timeLimit(.minutes(5)))
struct EndedByShutdownTests {
    enum Kind: CaseIterable {
        case chunks, lines, events, collected, unread, model, download, resumableDownload, resumedDownload
        case streamUpload, fileUpload, handler, downloadHandler

        /// Whether a part of the file is kept.
        var keepsPart: Bool { self == .resumableDownload || self == .resumedDownload }
    }

    enum Ending: CaseIterable { case shutdown, gracePeriod, locator }

    @Test("A shutdown ends a request of each kind as cancelled", arguments: Kind.allCases, Ending.allCases)
    func ends(kind: Kind, ending: Ending) async throws {
        try await EndlessServer.with { server in
            let service = try server.service(graceful: ending == .gracePeriod)
            let locator = ServiceLocator(name: "app")
            try locator.register(service, as: (any DataRequestService).self)
            let running = try await start { begun in try await run(kind, service, server, begun) }
            #expect(!service.isClosed)
            let time = await ContinuousClock().measure {
                switch ending {
                case .shutdown: await service.shutdown()
                case .gracePeriod: await service.shutdown(grace: .milliseconds(100))
                case .locator: await locator.close()
                }
            }
            let failure = await #expect(throws: RequestFailure.self) { try await running.value }
            #expect(failure?.reason == .cancelled)
            #expect(time < .seconds(10))
            #expect(service.isClosed)
            #expect(service.requestsInFlight == 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: server.directory)
            #expect(names.sorted() == (kind.keepsPart ? ["film.part", "film.part.validator"] : []))
            let later = await #expect(throws: RequestFailure.self) { try await service.get("held") }
            #expect(later?.reason == .closed)
            await service.shutdown()
        }
    }

    enum UnsafeKind: CaseIterable { case lines, bytes, download, handler }

    @Test("A shutdown ends a request of each kind to any server as cancelled", arguments: UnsafeKind.allCases)
    func endsUnsafe(kind: UnsafeKind) async throws {
        try await EndlessServer.with { server in
            let service = try HTTPDataRequestService.forAnyServer()
            let locator = ServiceLocator(name: "app")
            try locator.register(service, as: HTTPDataRequestService.self)
            let running = try await start { begun in try await run(kind, service, server, begun) }
            await locator.close()
            let failure = await #expect(throws: RequestFailure.self) { try await running.value }
            #expect(failure?.reason == .cancelled)
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.directory) == [])
        }
    }

    @Test("Shutting down a transport ends the streams and downloads that use it without a service")
    func transport() async throws {
        for isDownload in [false, true] {
            try await EndlessServer.with { server in
                let transport = try CurlTransport()
                let locator = ServiceLocator(name: "app")
                try locator.register(transport, as: (any Transport).self)
                let running = try await start { begun in
                    var request = TransportRequest(.get, try RequestURL(server.server.url + "/film"))
                    if isDownload {
                        try await transport.download(request, to: server.file, progress: server.report(begun))
                    } else {
                        request.options.delivery = .streamed
                        for try await _ in try await transport.send(request).body { begun() }
                    }
                }
                await locator.close()
                let failure = await #expect(throws: RequestFailure.self) { try await running.value }
                #expect(failure?.reason == .cancelled)
                #expect(try FileManager.default.contentsOfDirectory(atPath: server.directory) == [])
            }
        }
    }

    @Test("A second shutdown without a grace period ends the first one, and so does cancelling its task")
    func impatience() async throws {
        for isCancelled in [false, true] {
            try await EndlessServer.with { server in
                let service = try server.service(graceful: true)
                let running = try await start { begun in try await run(.events, service, server, begun) }
                let first = Task { await service.shutdown(grace: .seconds(600)) }
                while !service.isClosed { await Task.yield() }
                if isCancelled { first.cancel() } else { await service.shutdown() }
                await first.value
                let failure = await #expect(throws: RequestFailure.self) { try await running.value }
                #expect(failure?.reason == .cancelled)
            }
        }
    }

    // MARK: Running

    /// Starts the work in a task, and returns when it has begun.
    private func start(
        _ work: @escaping @Sendable (_ begun: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws -> Task<Void, any Error> {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            defer { start.finish() }
            try await work { start.yield() }
        }
        for await _ in started { return task }
        try await task.value
        Issue.record("The request ended before it had begun.")
        return task
    }

    private func run(
        _ kind: Kind, _ service: HTTPDataRequestService, _ server: EndlessServer,
        _ begun: @escaping @Sendable () -> Void
    ) async throws {
        server.begun.on(begun)
        switch kind {
        case .chunks: for try await _ in try await stream(service) { begun() }
        case .lines: for try await _ in try await stream(service).lines() { begun() }
        case .events: for try await _ in try await stream(service).serverSentEvents() { begun() }
        case .collected:
            let body = try await stream(service)
            begun()
            _ = try await body.collect(upTo: 1 << 20)
        case .unread:
            let body = try await stream(service)
            begun()
            while !service.isClosed { try await Task.sleep(for: .milliseconds(1)) }
            // The part of the body that was received before is not delivered either, once the shutdown is over.
            await service.shutdown()
            for try await _ in body {}
        case .model: _ = try await service.get("held", as: String.self)
        case .download: try await service.download("film", to: server.file, progress: server.report(begun))
        case .resumableDownload, .resumedDownload:
            var options = DownloadOptions()
            options.resumes = true
            if kind == .resumedDownload {
                let cut = await #expect(throws: RequestFailure.self) {
                    try await service.download("film?cut=yes", to: server.file, options: options)
                }
                #expect(cut?.reason == .interrupted)
            }
            try await service.download("film", to: server.file, options: options, progress: server.report(begun))
        case .streamUpload:
            // It has begun when a piece is asked for. The stream has no end.
            let pieces = AsyncStream<Data> { $0.yield(Data(repeating: 1, count: 1000)) }
                .map { piece in
                    begun()
                    return piece
                }
            var upload = DataRequest(.put, "held")
            upload.body = .stream(pieces, length: nil)
            try await service.send(upload)
        case .fileUpload:
            var upload = DataRequest(.put, "held")
            upload.body = try .file(#filePath)
            try await service.send(upload)
        case .handler:
            try await withCheckedThrowingContinuation { continuation in
                service.get("held") { continuation.resume(with: $0.map { _ in }.mapError { $0 as any Error }) }
            }
        case .downloadHandler: try await downloadHandler(service, server, begun)
        }
    }

    /// Waits for the progress of a token and for its handler. Both end.
    private func downloadHandler(
        _ service: HTTPDataRequestService, _ server: EndlessServer, _ begun: @escaping @Sendable () -> Void
    ) async throws {
        let (results, result) = AsyncStream.makeStream(of: Result<DownloadedFile, RequestFailure>.self)
        let token = service.download("film", to: server.file, progressInterval: .zero) {
            result.yield($0)
            result.finish()
        }
        for await progress in token.progressUpdates where progress.bytes > 0 { begun() }
        for await result in results { _ = try result.get() }
    }

    private func run(
        _ kind: UnsafeKind, _ service: HTTPDataRequestService, _ server: EndlessServer,
        _ begun: @escaping @Sendable () -> Void
    ) async throws {
        server.begun.on(begun)
        let url = server.server.url
        switch kind {
        case .lines:
            var options = TransportOptions()
            options.delivery = .streamed
            for try await _ in try await service.get(url + "/events", options: options).body.lines() { begun() }
        case .bytes: try await service.get(url + "/held")
        case .download: try await service.download(url + "/film", to: server.file, progress: server.report(begun))
        case .handler:
            try await withCheckedThrowingContinuation { continuation in
                service.get(url + "/held") { continuation.resume(with: $0.map { _ in }.mapError { $0 as any Error }) }
            }
        }
    }

    private func stream(_ service: HTTPDataRequestService) async throws -> ResponseBody {
        try await service.send(RequestBuilder(.get, "events").streaming()).body
    }
}

/// A server whose responses do not end, and a folder for downloads.
private struct EndlessServer {
    /// Calls a handler when a request without a response has arrived.
    final class Arrival: Sendable {
        private let stream = AsyncStream.makeStream(of: Void.self)

        func notify() { stream.continuation.yield() }

        func on(_ handler: @escaping @Sendable () -> Void) {
            Task { [stream] in for await _ in stream.stream { handler() } }
        }
    }

    let server: LoopbackServer
    let begun: Arrival
    let directory: String

    var file: String { directory + "/film" }

    static func with(_ body: (EndlessServer) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let begun = Arrival()
        let server = try LoopbackServer { request in reply(request, begun) }
        defer { server.stop() }
        try await body(EndlessServer(server: server, begun: begun, directory: directory.path))
    }

    private static func reply(_ request: ServerRequest, _ begun: Arrival) -> ServerReply {
        let tag = ("ETag", "\"film\"")
        let isRest = request.header("Range")?.hasPrefix("bytes=") == true
        // The file is written in large pieces, so progress is reported only for large responses.
        let block = [UInt8](repeating: 1, count: 1000)
        switch request.path {
        case "/events":
            return .raw([.head(headers: [("Content-Type", "text/event-stream")]), .text("data: 1\n\n"), .hang])
        case "/film" where isRest:
            let fields = [("Content-Length", "9000000"), ("Content-Range", "bytes 1000000-9999999/10000000"), tag]
            return .raw([.head(status: 206, headers: fields), .repeatSend(block, count: 500), .hang])
        case "/film":
            let end: ServerStep = request.query("cut") == nil ? .hang : .close
            return .raw([
                .head(headers: [("Content-Length", "10000000"), ("Accept-Ranges", "bytes"), tag]),
                .repeatSend(block, count: 1000), end,
            ])
        default:
            begun.notify()
            return .hang
        }
    }

    func service(graceful: Bool) throws -> HTTPDataRequestService {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.finishesOnShutdown = graceful
        return try HTTPDataRequestService(
            environment: ConstantEnvironment(server.url), configuration: configuration)
    }

    func report(_ begun: @escaping @Sendable () -> Void) -> ProgressReport {
        ProgressReport(every: .zero) { if $0.bytes > 0 { begun() } }
    }
}
