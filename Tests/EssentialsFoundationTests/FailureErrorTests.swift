import EssentialsFoundation
import EssentialsTransport
import Foundation
import ServiceEssentials
import Testing

@Suite("Failures as Foundation errors")
struct FailureErrorTests {
    private struct Below: Error {}

    private let failure = RequestFailure(
        .timeout, "The response came too late.", remedy: "Wait longer.", phase: .waiting, host: "api.example.com",
        underlying: Below())

    @Test("A failure's localized texts are its message, remedy and reason")
    func localized() {
        let error: any Error = failure
        #expect(error.localizedDescription == "The response came too late.")
        #expect((error as? any LocalizedError)?.recoverySuggestion == "Wait longer.")
        #expect((error as? any LocalizedError)?.failureReason == "timeout")
        #expect((error as? any LocalizedError)?.errorDescription == "The response came too late.")
    }

    @Test("A failure becomes an NSError with domain, code, host, phase and underlying error")
    func error() throws {
        #expect((failure as any Error) is any CustomNSError)
        let error = NSError(failure)
        #expect(error.domain == "ServiceEssentials.RequestFailure")
        #expect(error.code == 3006)
        #expect(error.localizedDescription == "The response came too late.")
        #expect(error.localizedRecoverySuggestion == "Wait longer.")
        #expect(error.userInfo[FailureKey.reason] as? String == "timeout")
        #expect(error.userInfo[FailureKey.phase] as? String == "waiting")
        #expect(error.userInfo[FailureKey.host] as? String == "api.example.com")
        #expect(error.userInfo[NSUnderlyingErrorKey] is Below)
        #expect(NSError(RequestFailure(.timeout, "Late.")).userInfo[FailureKey.host] == nil)
    }

    @Test("An underlying failure becomes an NSError too")
    func nested() throws {
        let outer = RequestFailure(.invalidRequest, "It was refused.", underlying: failure)
        let below = try #require(NSError(outer).userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(below.code == 3006)
        #expect(below.userInfo[NSUnderlyingErrorKey] is Below)
    }

    @Test("Every reason has a unique code: its legacy code or one above 3000")
    func codes() {
        var known: [Int: RequestFailure.Reason] = [:]
        for reason in RequestFailure.Reason.all {
            let failure = RequestFailure(reason, "No.")
            if let legacy = failure.legacyCode {
                #expect(failure.errorCode == legacy)
            } else {
                #expect(failure.errorCode > 3000, "\(reason)")
                #expect(known.updateValue(reason, forKey: failure.errorCode) == nil)
            }
        }
        let response = FailedResponse(head: HTTPResponse(status: .notFound), body: Data())
        #expect(RequestFailure(.status, "No.", response: response).errorCode == 404)
    }
}
