import EssentialsHTTP
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

@testable import EssentialsRequests

/// The chain of a service over a scripted transport, with one manual clock for both.
struct ChainFixture {
    let clock: ManualClock
    let transport: ScriptedTransport
    let settings: ServiceSettings
    let authorization = AuthorizationStore()
    private let chain: Chain

    init(
        clock: ManualClock = ManualClock(), over other: (any Transport)? = nil,
        _ change: (inout HTTPDataRequestService.Configuration) -> Void
    ) {
        var configuration = HTTPDataRequestService.Configuration()
        configuration.clock = clock.requestClock
        change(&configuration)
        self.clock = clock
        transport = ScriptedTransport(clock: clock)
        settings = ServiceSettings(configuration)
        chain = Chain(over: other ?? transport, settings, authorization)
    }

    /// Sends a request, and returns its response and how many attempts the request counts.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method = .get, _ path: String = "/a", expecting: StatusExpectation = .any,
        redirects: RedirectPolicy = .standard, environment: EnvironmentSnapshot? = nil,
        cancellation: Cancellation = Cancellation(), _ change: (inout TransportRequest) -> Void = { _ in }
    ) async throws(RequestFailure) -> (response: DataResponse, attempts: Int) {
        var request = TransportRequest(method, try RequestURL("https://h" + path))
        change(&request)
        let id = RequestID(service: 0, number: 1)
        var rules = ExchangeRules(expectedStatus: expecting, redirects: redirects)
        rules.joins = settings.joins(nil)
        rules.everywhere = settings.hops.standard
        let record = ExchangeRecord(
            request, rules, id: id, environment: environment, cancellation: cancellation)
        let response = try await chain.send(record, RequestReporter(settings, id, method, isBackground: false))
        return (response, record.attempts)
    }

    /// Begins a request, and returns its outcome later.
    func begin(
        _ path: String = "/a", cancellation: Cancellation = Cancellation(),
        _ change: @escaping @Sendable (inout TransportRequest) -> Void = { _ in }
    ) -> Task<Result<DataResponse, RequestFailure>, Never> {
        Task {
            do throws(RequestFailure) {
                return .success(try await send(path: path, cancellation, change))
            } catch {
                return .failure(error)
            }
        }
    }

    private func send(
        path: String, _ cancellation: Cancellation, _ change: (inout TransportRequest) -> Void
    ) async throws(RequestFailure) -> DataResponse {
        try await send(.get, path, cancellation: cancellation, change).response
    }

    /// The use of the limits of the origin that the requests go to.
    var state: OriginLimits.State {
        get throws {
            let origin = try RequestURL("https://h").origin
            return settings.hops.standard.limits?.state(of: origin) ?? OriginLimits.State()
        }
    }
}

/// Returns as soon as the condition holds. Other tasks run meanwhile.
func until(_ condition: () throws -> Bool) async rethrows {
    while try !condition() { await Task.yield() }
}
