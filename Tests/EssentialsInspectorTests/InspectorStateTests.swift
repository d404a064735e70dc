import EssentialsCurl
import EssentialsHTTP
import EssentialsLocator
import EssentialsRequests
import EssentialsResources
import EssentialsTestKit
import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import ServiceEssentials
import TestTools
import Testing

@testable import EssentialsInspector

@Suite("What services say of themselves in a report", .timeLimit(.minutes(5)))
struct InspectorStateTests {
    private let gate = LoopbackGate()
    private let server: LoopbackServer
    private let locator = ServiceLocator(name: "app")
    private let requests: HTTPDataRequestService
    private let environment: ConstantEnvironment
    private let inspector = Inspector()

    init() throws {
        let gate = gate
        server = try LoopbackServer { request in
            if request.target == "/v1/slow" { gate.wait(timeout: .seconds(60)) }
            return .raw([
                .text(
                    "HTTP/1.1 \(request.target == "/v1/none" ? "404 Not Found" : "200 OK")\r\nContent-Length: 2\r\n"
                        + "Cache-Control: max-age=60\r\nContent-Type: text/plain\r\n\r\nok"), .keepAlive,
            ])
        }
        environment = try ConstantEnvironment(server.url + "/v1/")
        var configuration = HTTPDataRequestService.Configuration()
        configuration.cache = ResponseCache()
        configuration.limits = OriginLimits(concurrency: 3)
        requests = HTTPDataRequestService(
            environment: environment, transport: try CurlTransport(), configuration: configuration)
        try locator.register(requests, as: (any DataRequestService).self)
    }

    @Test("Connections, limits, resources and caches are those of the moment")
    func report() async throws {
        let resources = try HTTPResourceService(requests: requests, environment: environment)
        try locator.register(resources, as: (any ResourceService).self)
        let slow = Task { try await requests.send(DataRequest(.get, "slow")) }
        while await requests.transportLoad?.origins.first?.active != 1 { await Task.yield() }
        var report = await inspector.report(of: locator)
        let origin = "\(try RequestURL(server.url).origin)"
        #expect(report.connections?.running == 1 && report.connections?.opened == 1)
        #expect(report.connections?.open.map(\.origin) == [origin])
        #expect(report.connections?.open.first?.active == 1)
        #expect(report.limits?.map(\.origin) == [origin] && report.limits?.first?.running == 1)
        #expect(report.limits?.first?.circuit == "closed" && report.resources == [])
        gate.open()
        _ = try await slow.value
        let film: Resource<String> = resources.resource("film").withParam("token", "s3cret")
        _ = try await film.load()
        let missing: Resource<String> = resources.resource("none")
        _ = try? await missing.load()
        let observation = film.observe { _ in }
        report = await inspector.report(of: locator)
        let shown = try #require(report.resources).filter { $0.state != "empty" }
        #expect(shown.map(\.state) == ["fresh", "failed"] && shown.map(\.observers) == [1, 0])
        #expect(shown[0].url.hasSuffix("film?…") && shown[1].failure == "status")
        #expect(try #require(shown[0].ageSeconds) >= 0 && shown[0].freshSeconds != nil)
        #expect(report.caches?.count == 1 && report.caches?.first?.name.hasPrefix("responses: ") == true)
        #expect(try #require(report.caches?.first).entries >= 1)
        let data = try JSONEncoder().encode(report)
        #expect(!String(decoding: data, as: UTF8.self).contains("s3cret"))
        observation.cancel()
        await locator.close()
        server.stop()
    }

    @Test("A transport that several services share is counted once, and doubles have none")
    func shared() async throws {
        let transport = try CurlTransport()
        let app = ServiceLocator(name: "shared")
        for name in ["a", "b"] {
            try app.register(
                HTTPDataRequestService(environment: environment, transport: transport),
                as: (any DataRequestService).self, named: name)
        }
        try app.register(transport, as: CurlTransport.self)
        let service = try app.resolve((any DataRequestService).self, named: "a")
        _ = try await service.send(DataRequest(.get, "a"))
        #expect(await inspector.report(of: app).connections?.opened == 1)
        await app.close()
        let doubles = ServiceLocator(name: "doubles")
        try doubles.register(
            HTTPDataRequestService(environment: environment, transport: ScriptedTransport()),
            as: (any DataRequestService).self)
        let report = await inspector.report(of: doubles)
        #expect(report.connections == nil && report.caches == nil && report.resources == nil)
        await doubles.close()
        await locator.close()
        server.stop()
    }

    /// An environment that changes without saying so.
    private final class QuietEnvironment: EnvironmentService {
        let current: Mutex<EnvironmentSnapshot>
        /// Opens when the resource service has adopted the first environment and waits for changes.
        let isFollowed = Latch()

        init(_ snapshot: EnvironmentSnapshot) { current = Mutex(snapshot) }

        var snapshot: EnvironmentSnapshot { current.withLock { $0 } }
        var baseURL: RequestURL { snapshot.baseURL }
        var changes: AsyncStream<EnvironmentSnapshot> {
            AsyncStream { [isFollowed] in
                isFollowed.open()
                return nil
            }
        }
    }

    @Test("A report changes nothing: it lets no resource move to a new environment")
    func changesNothing() async throws {
        let environment = QuietEnvironment(EnvironmentSnapshot(baseURL: try RequestURL(server.url + "/v1/")))
        let resources = try HTTPResourceService(requests: requests, environment: environment)
        let app = ServiceLocator(name: "quiet")
        try app.register(resources, as: (any ResourceService).self)
        let film: Resource<String> = resources.resource("film")
        await environment.isFollowed.wait()
        let next = EnvironmentSnapshot(baseURL: try RequestURL(server.url + "/v2/"))
        environment.current.withLock { $0 = next }
        let before = await inspector.report(of: app).resources?.map(\.url)
        #expect(before == [server.url + "/v1/film"])
        let other: Resource<String> = resources.resource("other")
        let after = await inspector.report(of: app).resources?.map(\.url) ?? []
        #expect(after.sorted() == [server.url + "/v2/film", server.url + "/v2/other"])
        withExtendedLifetime((film, other)) {}
        await app.close()
        await locator.close()
        server.stop()
    }

    @Test("A service that does not answer is missing, and the report comes nevertheless")
    func silent() async throws {
        struct Silent: LoadReporting {
            func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse {
                throw RequestFailure(.closed, "It sends nothing.")
            }
            func shutdown() async {}
            var load: TransportLoad {
                get async {
                    try? await Task.sleep(for: .seconds(100))
                    return TransportLoad()
                }
            }
        }
        try locator.register(Silent(), as: Silent.self)
        let begin = ContinuousClock.now
        var earlier = InspectorState()
        earlier.caches = []
        #expect(await InspectorState(of: locator, nil, after: earlier).caches == [])
        let report = await inspector.report(of: locator)
        #expect(report.connections == nil && report.health != nil && ContinuousClock.now - begin < .seconds(60))
        await locator.close()
        server.stop()
    }

    @Test("A page that follows receives only the parts that have changed")
    func difference() async throws {
        let first = await InspectorState(of: locator, nil)
        #expect(await InspectorState(of: locator, nil).difference(from: first) == nil)
        _ = try await requests.send(DataRequest(.get, "a"))
        let second = await InspectorState(of: locator, nil, after: first)
        let changes = try #require(second.difference(from: first))
        let text = String(decoding: try JSONEncoder().encode(changes), as: UTF8.self)
        #expect(text.contains("\"connections\"") && text.contains("\"caches\""))
        #expect(!text.contains("\"locator\"") && !text.contains("\"stores\""))
        let gone = try #require(InspectorState().difference(from: second))
        let rest = String(decoding: try JSONEncoder().encode(gone), as: UTF8.self)
        #expect(rest.contains("\"connections\":null") && !rest.contains("\"stores\""))
        await locator.close()
        server.stop()
    }
}
