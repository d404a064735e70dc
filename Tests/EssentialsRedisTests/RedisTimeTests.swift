import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import Testing

@testable import EssentialsRedis

@Suite("How long requests wait for Redis", .timeLimit(.minutes(2)))
struct RedisTimeTests {
    /// A transport whose trust policy is known, so that responses may leave the process.
    private struct KnownTransport: TrustBearing {
        let next: ScriptedTransport
        var trustPolicy: TrustPolicy { .system }

        func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
            try await next.send(request)
        }

        func shutdown() async { await next.shutdown() }
    }

    /// What the server does not reply to.
    enum Silence: String, CaseIterable, Sendable {
        case reading = "MGET"
        case writing = "SET"
        case storing = "EVALSHA"
        case everything = ""
    }

    private let clock: ManualClock
    private let time: RequestClock

    init() {
        clock = ManualClock()
        time = clock.requestClock
    }

    /// The time that a request needs by the clock, which moves on only when everything waits.
    private func duration(_ service: HTTPDataRequestService, _ request: DataRequest) async throws -> Duration {
        let start = time.now
        let ended = OneShot<Bool>()
        let task = Task {
            do { _ = try await service.send(request) } catch { ended.provide(false) }
            ended.provide(true)
        }
        while true {
            // Everything that does not wait for the clock has time to go on, also on a busy machine.
            let isSuccess = await ended.valueUnlessCancelled { try? await Task.sleep(for: .milliseconds(400)) }
            if let isSuccess {
                #expect(isSuccess)
                await task.value
                return time.now - start
            }
            clock.advance(by: .milliseconds(1))
        }
    }

    @Test(
        "No request waits for more than 3 milliseconds, whatever the server does not reply to",
        arguments: Silence.allCases)
    func waits(silence: Silence) async throws {
        let isSilent = Atomic<Bool>(false)
        let server = ScriptedServer { command in
            if isSilent.load(ordering: .relaxed), command.contains(silence.rawValue) { return nil }
            guard command.contains("MGET") else { return command.contains("EVALSHA") ? ":1\r\n" : "+OK\r\n" }
            // Numbers are there, and nothing is stored.
            let count = (Int(command.dropFirst().prefix { $0.isNumber }) ?? 1) - 1
            let hasList = command.contains("}:") && !command.contains("}:e\r\n$13")
            return "*\(count)\r\n" + (0..<count).map { $0 == 0 && hasList ? "_\r\n" : "$8\r\n12345678\r\n" }.joined()
        }
        var options = RedisClient.Configuration()
        options.clock = time
        let client = try RedisClient("redis://localhost", application: "films", over: server, configuration: options)
        try await client.connect()
        let transport = ScriptedTransport()
        transport.on(.get, "/films").answer(json: ["M"], headerFields: [.cacheControl: "max-age=60"])
        transport.on(.post, "/films").answer(.noContent)
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = ResponseCache(store: RedisResponseStore(client))
        configuration.clock = time
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/"),
            transport: KnownTransport(next: transport), configuration: configuration)
        #expect(try await duration(service, DataRequest(.get, "films")) == .zero)
        isSilent.store(true, ordering: .relaxed)
        var longest = Duration.zero
        for number in 0..<12 {
            let method = number % 4 == 3 ? HTTPRequest.Method.post : .get
            longest = max(longest, try await duration(service, DataRequest(method, "films")))
            clock.advance(by: .microseconds(100))
        }
        #expect(longest <= .milliseconds(3))
        #expect(transport.requests.count == 13)
    }
}
