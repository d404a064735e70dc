import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

@testable import EssentialsRequests

@Suite("The fields of the last attempt")
struct SentFieldsTests {
    /// Sends a request through a chain, and returns its record.
    private func record(
        over transport: StubTransport, retry: RetryPolicy? = nil,
        _ change: (inout HTTPDataRequestService.Configuration) -> Void
    ) async throws -> ExchangeRecord {
        var configuration = HTTPDataRequestService.Configuration()
        change(&configuration)
        configuration.settings.retry = retry
        let settings = ServiceSettings(configuration)
        let request = TransportRequest(
            .get, try RequestURL("https://h/a"), headerFields: [.acceptLanguage: "en", .authorization: "Basic x"])
        let id = RequestID(service: 0, number: 1)
        let environment = EnvironmentSnapshot(baseURL: try RequestURL("https://h/"))
        let record = ExchangeRecord(
            request,
            ExchangeRules(expectedStatus: .any, redirects: .standard, everywhere: settings.hops.standard), id: id,
            environment: environment, cancellation: Cancellation())
        #expect(record.sentFields.isEmpty)
        _ = try await Chain(over: transport, settings, AuthorizationStore())
            .send(record, RequestReporter(settings, id, .get, isBackground: false))
        return record
    }

    @Test("They contain what the stages have added to the last hop, and not what a redirect has removed")
    func lastHop() async throws {
        let transport = StubTransport { request throws(RequestFailure) in
            let isFirst = request.url.path == "/a"
            return TransportResponse(
                HTTPResponse(
                    status: isFirst ? .found : .ok, headerFields: isFirst ? [.location: "https://other/b"] : [:]),
                body: ResponseBody(Data()))
        }
        let jar = CookieJar()
        jar.store("seen=1", from: try RequestURL("https://other/"))
        let record = try await record(over: transport) { $0.cookies = jar }
        #expect(record.sentFields == transport.requests.last?.headerFields)
        #expect(record.sentFields[.cookie] == "seen=1")
        #expect(record.sentFields[.acceptLanguage] == "en")
        #expect(record.sentFields[.authorization] == nil)
        #expect(record.lastRequest.headerFields[.cookie] == nil)
    }

    @Test("They are those of the last attempt, with its own signature")
    func lastAttempt() async throws {
        struct Signer: RequestInterceptor {
            let clock: ManualClock
            func sign(_ request: inout EncodedRequest) async throws {
                request.headerFields["X-Signed-At"] = "\(clock.now.elapsed)"
            }
        }
        let clock = ManualClock()
        let transport = StubTransport { _ throws(RequestFailure) in
            clock.advance(by: .seconds(1))
            return TransportResponse(
                HTTPResponse(status: clock.now.elapsed < .seconds(3) ? .serviceUnavailable : .ok),
                body: ResponseBody(Data()))
        }
        var policy = RetryPolicy.attempts(3)
        policy.backoff = .exponential(base: .zero)
        let record = try await record(over: transport, retry: policy) { $0.interceptors = [Signer(clock: clock)] }
        #expect(record.attempts == 3)
        #expect(record.sentFields["X-Signed-At"] == "\(Duration.seconds(2))")
    }
}
