internal import EssentialsResources
internal import Figures
internal import FoundationEssentials
internal import Glibc
internal import ThreadCounters

/// A transport that responds to every request at once, so that only this package's work is measured.
struct InstantTransport: Transport {
    let response: TransportResponse

    init(response: TransportResponse) { self.response = response }

    init(json: String) {
        let head = HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"])
        self.init(response: TransportResponse(head, body: ResponseBody(Data(json.utf8))))
    }

    func send(_ request: TransportRequest) async throws(RequestFailure) -> TransportResponse { response }

    func send(
        _ request: TransportRequest, cancellation: Cancellation
    ) async throws(RequestFailure) -> TransportResponse { response }

    func shutdown() async {}
}

/// The services that are measured.
struct Fixture: Sendable {
    let requests: HTTPDataRequestService
    let service: HTTPResourceService

    init(_ configuration: HTTPResourceService.Configuration = HTTPResourceService.Configuration()) throws {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        requests = HTTPDataRequestService(environment: environment, transport: InstantTransport(json: "7"))
        service = try HTTPResourceService(requests: requests, environment: environment, configuration: configuration)
    }
}

/// Runs work on one thread, and returns the cost of one operation.
func cost(of count: Int, _ work: () -> Void) -> Cost {
    let allocations = thread_allocations()
    let start = thread_cpu_nanoseconds()
    work()
    let spent = thread_cpu_nanoseconds() - start
    return Cost(
        nanoseconds: Double(spent) / Double(count),
        allocations: Double(thread_allocations() - allocations) / Double(count))
}

/// Runs work on all threads, and returns the elapsed time and the allocations of one operation.
func elapsed(of count: Int, _ work: () async throws -> Void) async rethrows -> Cost {
    let allocations = process_allocations()
    let start = monotonic_nanoseconds()
    try await work()
    let spent = monotonic_nanoseconds() - start
    return Cost(
        nanoseconds: Double(spent) / Double(count),
        allocations: Double(process_allocations() - allocations) / Double(count))
}

/// Runs work on all threads, and returns the processor time of the program and the allocations of one operation. Unlike the
/// elapsed time it does not grow with the other load of the machine.
func processorTime(of count: Int, _ work: () async throws -> Void) async rethrows -> Cost {
    func spent() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
    let allocations = process_allocations()
    let start = spent()
    try await work()
    return Cost(
        nanoseconds: (spent() - start) / Double(count),
        allocations: Double(process_allocations() - allocations) / Double(count))
}

/// Keeps the optimizer from dropping a value.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
