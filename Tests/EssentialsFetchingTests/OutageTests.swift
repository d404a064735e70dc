import EssentialsHTTP
import FoundationEssentials
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("Outages")
struct OutageTests {
    @Test(
        "A token server that cannot be reached or has failed is an outage, and one that refuses is not",
        arguments: [
            (RequestFailure(.connection, ""), true), (RequestFailure(.timeout, ""), true),
            (failure(.status, 503), true), (failure(.authorization, 500), true), (failure(.authorization, 429), false),
            (failure(.status, 404), false), (RequestFailure(.pinMismatch, ""), false),
        ])
    func tokenOutage(cause: RequestFailure, isOutage: Bool) {
        let failure = RequestFailure(.authorization, "", underlying: cause)
        #expect(failure.changed { $0.isTemporary = true }.isOutage == isOutage)
        #expect(!failure.isOutage)
        #expect(!Self.failure(.authorization, 503).isOutage)
    }

    private static func failure(_ reason: RequestFailure.Reason, _ code: Int) -> RequestFailure {
        RequestFailure(
            reason, "",
            response: FailedResponse(head: HTTPResponse(status: HTTPResponse.Status(code: code)), body: Data()))
    }
}
