internal import EssentialsHTTP
internal import EssentialsInspector
internal import EssentialsRequests
internal import Figures
internal import HTTPTypes
internal import ServiceEssentials

/// What an inspector costs a program: throughput over the loopback interface at 64 requests at a time, without an inspector, with
/// one that nobody looks at, and with one that a page follows; and how long a report of 500 requests takes.
enum InspectorCost {
    private struct Side {
        let service: HTTPDataRequestService
        /// The requests per second of each round.
        var rates: [Double] = []

        @concurrent
        mutating func run(_ requests: Int) async throws {
            let service = service
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask { for _ in 0..<requests { try await service.get("users/1") } }
                }
                try await group.waitForAll()
            }
            rates.append(Double(64 * requests) / ((ContinuousClock.now - start) / .seconds(1)))
        }
    }

    static func measure(_ options: Options) async throws -> [Row] {
        let server = try ChildServer.start()
        defer { server.stop() }
        let base = "http://127.0.0.1:\(server.port)/v1/"
        let (idle, watched) = (Inspector(), Inspector())
        let services = try [[], [idle], [watched]].map { observers in
            var configuration = HTTPDataRequestService.Configuration()
            configuration.observers = observers
            return try HTTPDataRequestService(environment: ConstantEnvironment(base), configuration: configuration)
        }
        let viewer = try await viewer(of: watched)
        var sides = services.map { Side(service: $0) }
        let requests = options.isSmoke ? 8 : 200
        for round in 0...options.rounds {
            for index in sides.indices { try await sides[index].run(requests) }
            // The first round includes the connections.
            if round == 0 { for index in sides.indices { sides[index].rates = [] } }
        }
        viewer.cancel()
        let seen = await viewer.value
        guard seen > 0 else { throw BenchmarkError("the page that follows has received nothing") }
        let rates = sides.map(\.rates)
        func lost(_ index: Int, against other: Int) -> Double {
            median(zip(rates[other], rates[index]).map { ($0 - $1) / $0 * 100 })
        }
        let rows = [
            Row(what: "GET over loopback, 64 at a time, without an inspector", value: median(rates[0]), unit: "/s"),
            Row(
                what: "    lost with an inspector that nobody looks at", value: lost(1, against: 0), unit: "%",
                digits: 1),
            Row(
                what: "    lost if a page follows it, against one that nobody looks at", value: lost(2, against: 1),
                unit: "%", digits: 1, goal: .atMost(5)),
        ]
        for service in services { await service.shutdown() }
        return rows + (await report(idle, options))
    }

    /// The report of the 500 requests that an inspector keeps, as JSON in a page.
    private static func report(_ inspector: Inspector, _ options: Options) async -> [Row] {
        var (times, size) = ([Double](), 0)
        for _ in 0..<(options.isSmoke ? 1 : options.rounds) {
            let start = ContinuousClock.now
            let page = await inspector.report().page
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            size = page.utf8.count
        }
        return [
            Row(
                what: "a report of 500 requests as a page", value: median(times), unit: "ms", digits: 1,
                goal: .atMost(20)),
            Row(
                what: "    its size", value: Double(size) / 1e6, unit: "MB", digits: 2, goal: .atMost(3), isJudged: true
            ),
        ]
    }

    /// A page that follows an inspector.
    ///
    /// - Returns: The number of bytes that it has received when it is cancelled.
    private static func viewer(of inspector: Inspector) async throws -> Task<Int, Never> {
        let routes = InspectorRoutes(inspector)
        func request(_ path: String, cookie: String? = nil) -> HTTPRequest {
            var request = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
            request.headerFields[.cookie] = cookie
            return request
        }
        let first = await routes.respond(to: request(routes.address))
        let cookie = first.head.headerFields[.setCookie].map { String($0.prefix { $0 != ";" }) }
        let response = await routes.respond(to: request("/events", cookie: cookie))
        guard case .events(let events) = response.body else {
            throw BenchmarkError("the inspector has refused the page that follows: \(response.head.status)")
        }
        return Task {
            var count = 0
            for await piece in events { count += piece.count }
            return count
        }
    }
}
