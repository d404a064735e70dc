import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// A malformed reply and its expected result.
struct Fault: Sendable, CustomTestStringConvertible {
    var name: String
    var steps: [ServerStep]
    /// The reason of the failure, or `nil` if the exchange succeeds.
    var reason: RequestFailure.Reason?
    /// The text of the body if the exchange succeeds.
    var body = ""
    /// The expected fields, if they matter.
    var fields: [String]?
    var trailers: [String] = []
    var testDescription: String { name }

    init(
        _ name: String, _ steps: [ServerStep], is reason: RequestFailure.Reason? = nil, body: String = "",
        fields: [String]? = nil, trailers: [String] = []
    ) {
        (self.name, self.steps, self.reason, self.body) = (name, steps, reason, body)
        (self.fields, self.trailers) = (fields, trailers)
    }

    /// A reply with these header lines and this body, after which the server closes.
    init(
        _ name: String, fields lines: String, _ text: String, is reason: RequestFailure.Reason? = nil,
        body: String = "", fields: [String]? = nil, trailers: [String] = [], end: ServerStep = .close
    ) {
        self.init(
            name, [.text("HTTP/1.1 200 OK\r\n\(lines)\r\n\r\n\(text)"), end], is: reason, body: body, fields: fields,
            trailers: trailers)
    }

    /// Sends one request for each delivery to a server with this fault. It expects the result of the fault, that the
    /// request was sent once, and that the transport still works.
    func expect(_ authority: Authority? = nil) async throws {
        let bench = try Bench(authority, bad: steps)
        for (count, delivery) in deliveries.enumerated() {
            let outcome = try await bench.bad(as: delivery)
            #expect(outcome.failure?.reason == reason, "\(outcome)")
            if reason == nil {
                #expect(outcome.text == body, "\(outcome)")
                #expect(outcome.trailers == trailers)
            } else {
                #expect(outcome.failure?.phase == .receiving, "\(outcome)")
            }
            if let fields { #expect(outcome.fields == fields, "\(outcome)") }
            #expect(bench.badCount == count + 1)
            try await bench.expectRecovery("after \(name), \(delivery)")
        }
    }
}
