import Dispatch
import EssentialsCurl
import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Testing

/// A decorator that implements only `send`.
private struct Counting: DataRequestDecorator {
    let next: any DataRequestService
    let paths = Paths()

    final class Paths: Sendable {
        private let paths = Mutex<[String]>([])
        var all: [String] { paths.withLock { $0 } }
        func append(_ path: String) { paths.withLock { $0.append(path) } }
    }

    func send(_ request: DataRequest) async throws(RequestFailure) -> DataResponse {
        paths.append(request.path)
        return try await next.send(request)
    }
}

/// A decorator that implements nothing.
private struct Passing: DataRequestDecorator {
    let next: any DataRequestService
}

@Suite("Decorators of a data-request service")
struct DataRequestDecoratorTests {
    private struct Person: Codable, Equatable { var firstName: String }

    @Test("A decorator encodes and decodes with the codecs of the service that it decorates")
    func codecs() async throws {
        let fixture = try ServiceFixture(StubTransport(status: 200, #"{"first_name":"Ada"}"#)) {
            $0.codecs.register(JSONCodec(keys: .snakeCase), for: MediaPattern(.json))
        }
        let counting = Counting(next: Passing(next: fixture.service))
        let service: any DataRequestService = counting
        #expect(try await service.get("a") == Person(firstName: "Ada"))
        #expect(try await service.post("b", body: Person(firstName: "Bob"), as: Person.self).firstName == "Ada")
        #expect(try fixture.last().bodyText == #"{"first_name":"Bob"}"#)
        let result = await withCheckedContinuation { continuation in
            service.get("c", deserializeTo: Person.self) { continuation.resume(returning: $0) }
        }
        #expect(try result.get() == Person(firstName: "Ada"))
        #expect(counting.paths.all == ["a", "b", "c"])
        #expect(service.callbackQueue === fixture.service.callbackQueue)
    }

    private func inDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory.path)
    }

    private func content(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    /// A server that interrupts the first download of its film, and completes it when it is resumed.
    private func filmServer() throws -> LoopbackServer {
        let attempts = Mutex(0)
        return try LoopbackServer { request in
            let number = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            guard number > 1, let range = request.header("Range") else {
                return .raw([
                    .head(headers: [("Content-Length", "8"), ("ETag", "\"1\""), ("Accept-Ranges", "bytes")]),
                    .text("1234"), .close,
                ])
            }
            #expect(request.header("If-Range") == "\"1\"")
            return range == "bytes=4-"
                ? .response(
                    status: 206, headers: [("Content-Range", "bytes 4-7/8"), ("ETag", "\"1\"")], body: "5678")
                : .response(status: 416, headers: [("Content-Range", "bytes */8")], body: "")
        }
    }

    private var resuming: DownloadOptions {
        var options = DownloadOptions()
        options.resumes = true
        return options
    }

    @Test("A download passes through a decorator that implements only send, and resumes", arguments: [0, 1, 2])
    func download(decorated: Int) async throws {
        try await inDirectory { directory in
            let server = try filmServer()
            let service = HTTPDataRequestService(
                environment: try ConstantEnvironment(server.url + "/v1"), transport: try CurlTransport())
            let counting = Counting(next: service)
            // A partial file is the same with and without the decorator.
            let services: [any DataRequestService] =
                switch decorated {
                case 0: [counting, counting]
                case 1: [service, counting]
                default: [counting, service]
                }
            let broken = await #expect(throws: RequestFailure.self) {
                try await services[0].download("film", to: directory + "/film", options: resuming)
            }
            #expect(broken?.reason == .interrupted)
            let file = try await services[1].download("film", to: directory + "/film", options: resuming)
            #expect((file.bytes, file.resumedFrom, file.status) == (8, 4, .partialContent))
            #expect(try content(directory + "/film") == "12345678")
            #expect(counting.paths.all.count == (decorated == 0 ? 2 : 1))
            #expect(server.requests.map { $0.header("Accept") } == ["*/*", "*/*"])
            await service.shutdown()
        }
    }

    @Test("A partial file of another environment is not resumed through a decorator")
    func otherEnvironment() async throws {
        try await inDirectory { directory in
            let servers = [try filmServer(), try filmServer()]
            let environment = try MutableEnvironment(servers[0].url + "/v1")
            let service = HTTPDataRequestService(environment: environment, transport: try CurlTransport())
            let counting = Counting(next: service)
            for server in servers {
                try environment.set(baseURL: server.url + "/v1")
                await #expect(throws: RequestFailure.self) {
                    try await counting.download("film", to: directory + "/film", options: resuming)
                }
                #expect(server.requests.map { $0.header("Range") } == [nil])
            }
            await service.shutdown()
        }
    }

    @Test("A partial file that is complete is moved to its place through a decorator")
    func complete() async throws {
        try await inDirectory { directory in
            let isFirst = Mutex(true)
            let server = try LoopbackServer { request in
                if isFirst.withLock({ value in
                    defer { value = false }
                    return value
                }) {
                    // All bytes arrive, but not the end of the chunked body.
                    return .raw([
                        .head(headers: [("Transfer-Encoding", "chunked"), ("ETag", "\"1\"")]),
                        .text("8\r\n12345678\r\n"), .close,
                    ])
                }
                return .response(status: 416, headers: [("Content-Range", "bytes */8"), ("ETag", "\"1\"")], body: "")
            }
            let service = HTTPDataRequestService(
                environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
            let counting = Counting(next: service)
            let broken = await #expect(throws: RequestFailure.self) {
                try await counting.download("film", to: directory + "/film", options: resuming)
            }
            #expect(broken?.reason == .interrupted)
            let file = try await counting.download("film", to: directory + "/film", options: resuming)
            #expect(file.bytes == 8)
            #expect(try content(directory + "/film") == "12345678")
            await service.shutdown()
        }
    }

    @Test("A download through a decorator fails before anything is sent if its path or its expectation is invalid")
    func invalid() async throws {
        try await inDirectory { directory in
            let fixture = try ServiceFixture()
            let counting = Counting(next: fixture.service)
            var nothing = DataRequest(.get, "film")
            nothing.expectedStatus = []
            for request in [DataRequest(.get, "../../x"), nothing] {
                let failure = await #expect(throws: RequestFailure.self) {
                    try await counting.download(
                        request, to: directory + "/film", options: resuming, progress: nil)
                }
                #expect(failure?.reason == .invalidRequest)
            }
            #expect(fixture.transport.requests.isEmpty)
        }
    }

    @Test("A shutdown ends a download through a decorator, and leaves no file without resumption")
    func shutdown() async throws {
        try await inDirectory { directory in
            let arrived = LoopbackGate()
            let server = try LoopbackServer { _ in
                .raw([.head(headers: [("Content-Length", "10")]), .text("123"), .gate(LoopbackGate())])
            }
            let service = HTTPDataRequestService(
                environment: try ConstantEnvironment(server.url), transport: try CurlTransport())
            let counting = Counting(next: service)
            let progress = ProgressReport(every: .zero) { if $0.bytes == 3 { arrived.open() } }
            let file = Task {
                try await counting.download(
                    DataRequest(.get, "film"), to: directory + "/film", options: DownloadOptions(), progress: progress)
            }
            await arrived.opened()
            await service.shutdown()
            let failure = await #expect(throws: RequestFailure.self) { try await file.value }
            #expect(failure?.reason == .cancelled)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        }
    }
}
