import EssentialsCurl
import EssentialsHTTP
import EssentialsRedis
import EssentialsRequests
import EssentialsTools
import Foundation

// A client with a response cache, which a suite of tests for HTTP caches drives.
//
// usage: CacheProbe BASE [--stale-when-unreachable] [--disk DIRECTORY] [--redis URL]
//
// BASE is the URL of the server. With a Redis server, equal requests are joined. Each line of the input is a request as JSON, and each line of the output a response, in any
// order:
//
//     {"id": 1, "method": "GET", "url": "…", "headers": [["Accept", "*/*"]], "body": null, "cache": "default",
//      "redirect": "follow", "timeout_ms": 10000, "decompress": true}
//     {"id": 1, "status": 200, "statusText": "OK", "headers": [["ETag", "\"1\""]], "body": "…", "interim": [],
//      "cacheStatus": "ServiceEssentials; hit; ttl=9"}
//     {"id": 2, "error": "…"}
//
// Bodies are in Base64. `{"cancel": 1}` cancels a request. The program ends when the input has ended and all requests have.

/// A line of the input.
struct ProbeLine: Decodable {
    var id: Int?
    var cancel: Int?
    var method: String?
    var url: String?
    var headers: [[String]]?
    var body: Data?
    var cache: String?
    var redirect: String?
    var timeout: Int?
    var decompress: Bool?

    private enum CodingKeys: String, CodingKey {
        case id, cancel, method, url, headers, body, cache, redirect, decompress
        case timeout = "timeout_ms"
    }

    /// The policy that does the same as a cache mode of browsers.
    private func policy() throws(ProbeError) -> CachePolicy {
        switch cache ?? "default" {
        case "default": .standard
        case "no-store": .bypass
        case "reload": .reload
        case "no-cache": .revalidate
        case "force-cache": .preferStored
        case "only-if-cached": .onlyIfStored
        case let other: throw ProbeError(text: "unknown cache mode \(other)")
        }
    }

    func request(below base: String) throws -> DataRequest {
        guard let url, url.hasPrefix(base) else { throw ProbeError(text: "the URL is not below \(base)") }
        guard let method = HTTPRequest.Method(method ?? "GET") else { throw ProbeError(text: "invalid method") }
        var request = DataRequest(method, String(url.dropFirst(base.count)), expecting: .any)
        for header in headers ?? [] {
            guard header.count == 2, let name = HTTPField.Name(header[0]) else {
                throw ProbeError(text: "invalid header field \(header)")
            }
            request.headerFields.append(HTTPField(name: name, value: header[1]))
        }
        if let body { request.body = .data(body) }
        request.cachePolicy = try policy()
        if redirect == "manual" { request.redirects = .refused }
        if redirect == "error" { request.redirects = .limit(0) }
        request.options.totalTimeout = timeout.map { .milliseconds($0) }
        request.options.decompresses = decompress ?? true
        return request
    }
}

struct ProbeError: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}

/// A line of the output.
struct ProbeAnswer: Encodable {
    struct Interim: Encodable {
        var status: Int
        var headers: [[String]]
    }

    var id: Int
    var error: String?
    var status: Int?
    var statusText: String?
    var headers: [[String]]?
    var body: Data?
    var interim: [Interim]?
    var cacheStatus: String?

    init(_ id: Int, _ response: DataResponse) {
        self.id = id
        status = response.status.code
        statusText = response.status.reasonPhrase
        headers = response.headerFields.map { [$0.name.rawName, $0.value] }
        body = response.body.data
        interim = response.transportResponse.informational.map { interim in
            Interim(status: interim.status.code, headers: interim.headerFields.map { [$0.name.rawName, $0.value] })
        }
        cacheStatus = response.cacheStatus
    }

    init(_ id: Int, _ error: any Error) {
        self.id = id
        self.error = "\(error)"
    }

    func write() {
        guard let line = try? JSONEncoder().encode(self) else { return }
        // A long line is written in several pieces.
        Self.output.withLock { _ in try? FileHandle.standardOutput.write(contentsOf: line + Data("\n".utf8)) }
    }

    private static let output = Mutex(())
}

@main
enum CacheProbe {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 1 else {
            print("usage: CacheProbe BASE [--stale-when-unreachable]")
            exit(2)
        }
        let base = words[1].hasSuffix("/") ? words[1] : words[1] + "/"
        var options = ResponseCache.Options()
        options.staleWhenUnreachable = words.contains("--stale-when-unreachable")
        var configuration = HTTPDataRequestService.Configuration()
        let cache =
            if let index = words.firstIndex(of: "--redis"), index + 1 < words.count {
                ResponseCache(store: RedisResponseStore(try await redis(words[index + 1])), options: options)
            } else if let index = words.firstIndex(of: "--disk"), index + 1 < words.count {
                try ResponseCache(
                    memory: .bytes(64 << 10), disk: .directory(words[index + 1], bytes: 4 << 20), options: options)
            } else {
                ResponseCache(options: options)
            }
        configuration.cache = cache
        configuration.joins = words.contains("--redis")
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment(base), transport: try CurlTransport(),
            configuration: configuration)
        await serve(service, below: base)
        await service.shutdown()
        await cache.flush()
    }

    /// A client that waits for slow machines.
    private static func redis(_ url: String) async throws -> RedisClient {
        var configuration = RedisClient.Configuration()
        configuration.timeLimit = .seconds(10)
        let client = try RedisClient(
            url, application: "probe", over: CurlTransport(), configuration: configuration)
        try await client.connect()
        return client
    }

    /// Answers all lines of the input.
    private static func serve(_ service: HTTPDataRequestService, below base: String) async {
        let running = Mutex<[Int: Task<Void, Never>]>([:])
        while let text = readLine() {
            guard let line = try? JSONDecoder().decode(ProbeLine.self, from: Data(text.utf8)) else {
                ProbeAnswer(-1, ProbeError(text: "not a request: \(text)")).write()
                continue
            }
            if let cancelled = line.cancel { running.withLock { $0[cancelled] }?.cancel() }
            guard let id = line.id else { continue }
            let task = Task {
                do {
                    ProbeAnswer(id, try await service.send(line.request(below: base))).write()
                } catch {
                    ProbeAnswer(id, error).write()
                }
            }
            running.withLock { $0[id] = task }
        }
        for task in running.withLock({ Array($0.values) }) { await task.value }
    }
}
