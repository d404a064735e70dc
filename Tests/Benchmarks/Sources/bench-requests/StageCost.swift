internal import EssentialsHTTP
internal import EssentialsInspector
internal import EssentialsObservability
internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import Synchronization

/// What each stage costs a small GET that it has nothing to do for, over a transport that responds at once.
enum StageCost {
    /// The allocations of the service for a GET without stages. A stage that is off must not add one.
    private static let allocationsWithoutStages = 6.0

    private struct Provider: AccessTokenProvider {
        let token: AccessToken
        func token(replacing old: AccessToken?) async throws -> AccessToken { token }
    }

    /// Counts what it is told.
    private final class Counter: RequestObserver {
        let count = Atomic(0)
        func observe(_ event: RequestEvent) { count.add(1, ordering: .relaxed) }
    }

    private struct Side {
        let what: String
        let service: HTTPDataRequestService
        /// The most that the stage may add, in nanoseconds and allocations; `nil` for the side without stages.
        var goal: (nanoseconds: Double, allocations: Double)?
        var samples: [OwnCost.Sample] = []
    }

    static func measure(_ options: Options) async throws -> [Row] {
        var sides = try await sides()
        let requests = options.isSmoke ? 200 : 5_000
        for round in 0...options.rounds {
            for index in sides.indices {
                let service = sides[index].service
                let sample = try await OwnCost.sample(requests) { () async throws in try await service.get("users/1") }
                // The first round includes the creation of metadata and page faults.
                if round > 0 { sides[index].samples.append(sample) }
            }
        }
        let (without, rest) = (sides[0], sides.dropFirst())
        let base = (time: median(without.samples.map(\.nanoseconds)), count: median(without.samples.map(\.allocations)))
        var rows = [
            Row(what: "GET without stages, transport that responds at once", value: base.time, unit: "ns"),
            Row(
                what: "    allocations", value: base.count, unit: "", digits: 2,
                goal: .atMost(allocationsWithoutStages),
                isJudged: true),
        ]
        for side in rest {
            guard let goal = side.goal else { continue }
            let added = zip(without.samples, side.samples).map { $1.nanoseconds - $0.nanoseconds }
            let counted = zip(without.samples, side.samples).map { $1.allocations - $0.allocations }
            rows += [
                Row(
                    what: "    added by \(side.what)", value: median(added), unit: "ns", goal: .atMost(goal.nanoseconds)
                ),
                Row(
                    what: "        allocations", value: median(counted), unit: "", digits: 2,
                    goal: .atMost(goal.allocations), isJudged: true),
            ]
        }
        return rows
    }

    private static func sides() async throws -> [Side] {
        let stages: [(String, (nanoseconds: Double, allocations: Double), Set<Stage>)] = [
            ("retry", (150, 0), [.retry]), ("tokens, including the field", (150, 1), [.tokens]),
            ("limits", (150, 0), [.limits]),
            ("an empty cookie jar", (150, 0), [.cookies]),
            ("an observer", (3_000, 30), [.observer]),
            ("a recorder of exchanges", (3_000, 60), [.recorder]),
            ("an inspector", (2_000, 60), [.inspector]),
            ("metrics and traces without a backend", (200, 0), [.unused]),
            ("metrics, with a backend that adds", (500, 30), [.metrics]),
            ("spans, with a backend that forgets them", (3_000, 60), [.spans]),
            ("joining, without an equal request", (4_000, 25), [.joining]),
            ("all of them but joining", (4_000, 25), [.retry, .tokens, .limits, .cookies]),
            ("all of them", (4_000, 25), [.retry, .tokens, .limits, .cookies, .joining]),
        ]
        var sides = [Side(what: "no stage", service: try await service([]))]
        for (what, goal, used) in stages where used.isDisjoint(with: Stage.missing) {
            sides.append(Side(what: what, service: try await service(used), goal: goal))
        }
        return sides
    }

    private enum Stage {
        case retry, tokens, limits, cookies, joining, observer, recorder, inspector, unused, metrics, spans

        /// Those that this program was built without.
        static var missing: Set<Stage> {
            #if BENCHMARK_SERVER
                []
            #else
                [.unused, .metrics, .spans]
            #endif
        }
    }

    private static func service(_ stages: Set<Stage>) async throws -> HTTPDataRequestService {
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "text/plain"])
        let transport = NullTransport(TransportResponse(head, body: ResponseBody(Data("Hello, world!".utf8))))
        var configuration = HTTPDataRequestService.Configuration()
        if stages.contains(.retry) { configuration.retry = .standard }
        if stages.contains(.limits) { configuration.limits = OriginLimits(concurrency: 1_000) }
        if stages.contains(.cookies) { configuration.cookies = CookieJar() }
        if stages.contains(.observer) { configuration.observers = [Counter()] }
        if stages.contains(.recorder) { configuration.observers = [HARRecorder()] }
        if stages.contains(.inspector) { configuration.observers = [Inspector()] }
        #if BENCHMARK_SERVER
            if stages.contains(.unused) { configuration.observers = [MetricsObserver(), TracingObserver()] }
            if stages.contains(.metrics) { configuration.observers = [MetricsObserver(factory: CountingMetrics())] }
            if stages.contains(.spans) { configuration.observers = [TracingObserver(tracer: CountingTracer())] }
        #endif
        configuration.joins = stages.contains(.joining)
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://api.example.com/v1/"), transport: transport,
            configuration: configuration)
        if stages.contains(.tokens) {
            service.setAuthorization(.tokens(Provider(token: try AccessToken("dG9rZW4"))))
            _ = try await service.get("users/1")
        }
        return service
    }
}
