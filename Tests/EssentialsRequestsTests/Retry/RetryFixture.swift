import EssentialsHTTP
import EssentialsRequests
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials

/// A service with a retry policy, over a transport that gives its outcomes in order, on a manual clock.
struct RetryFixture {
    enum Outcome: Sendable {
        case status(Int, HTTPFields = [:])
        case failure(RequestFailure.Reason, RequestFailure.Transmission?, RequestFailure.Phase = .waiting)
    }

    let clock = ManualClock()
    let transport: StubTransport
    let service: HTTPDataRequestService

    /// - Parameter outcomes: The outcomes of the attempts. The last one is repeated.
    init(
        _ outcomes: [Outcome], retry: RetryPolicy = .standard, base: String = "https://h/v1/",
        _ change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
    ) throws {
        let left = Mutex(Array(outcomes.reversed()))
        transport = StubTransport { request throws(RequestFailure) in
            let outcome = left.withLock { $0.count > 1 ? $0.removeLast() : $0[0] }
            switch outcome {
            case .status(let code, let fields):
                return TransportResponse(
                    HTTPResponse(status: .init(code: code), headerFields: fields),
                    body: ResponseBody(Data("{}".utf8)))
            case .failure(let reason, let transmission, let phase):
                throw RequestFailure(
                    reason, "The attempt failed.", phase: phase, host: "h", transmission: transmission)
            }
        }
        var configuration = HTTPDataRequestService.Configuration()
        configuration.retry = retry
        configuration.clock = clock.requestClock
        change(&configuration)
        service = HTTPDataRequestService(
            environment: try ConstantEnvironment(base), transport: transport, configuration: configuration)
    }

    /// Sends a request and moves the clock to the end of each wait.
    ///
    /// - Returns: The result, and the time that all waits took.
    func send(
        _ request: DataRequest = DataRequest(.get, "a")
    ) async -> (result: Result<DataResponse, RequestFailure>, waited: Duration) {
        let start = clock.now
        let advancing = Task { [clock] in
            while !Task.isCancelled {
                await clock.waitForSleepers(count: 1)
                clock.advanceToNextDeadline()
            }
        }
        let result: Result<DataResponse, RequestFailure>
        do throws(RequestFailure) { result = .success(try await service.send(request)) } catch {
            result = .failure(error)
        }
        advancing.cancel()
        await advancing.value
        return (result, start.duration(to: clock.now))
    }

    /// The number of requests that the transport has received.
    var attempts: Int { transport.requests.count }
}
