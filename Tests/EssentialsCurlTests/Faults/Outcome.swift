import EssentialsCurl
import EssentialsHTTP
import EssentialsTestKit
import FoundationEssentials
import Testing

/// The result of one exchange, including its body.
struct Outcome: CustomStringConvertible {
    /// The status, or `nil` if no head was delivered.
    var status: Int?
    /// The fields as "name: value", in their order.
    var fields: [String] = []
    /// The part of the body that arrived.
    var body = Data()
    var trailers: [String] = []
    var failure: RequestFailure?

    var text: String { String(decoding: body, as: UTF8.self) }

    var description: String {
        let end = failure.map { "\($0.reason) in \($0.phase): \($0.message)" } ?? "whole"
        return
            "\(status.map(String.init) ?? "no head") \(fields) \(text.prefix(200).debugDescription) \(trailers) \(end)"
    }
}

extension CurlTransport {
    /// Sends a request and reads its body to the end, whatever that is.
    func outcome(of request: TransportRequest) async -> Outcome {
        var outcome = Outcome()
        do throws(RequestFailure) {
            let response = try await send(request)
            outcome.status = response.status.code
            outcome.fields = response.headerFields.map { "\($0.name.rawName): \($0.value)" }
            for try await chunk in response.body { chunk.withUnsafeBytes { outcome.body.append(contentsOf: $0) } }
            let trailers = response.body.ending?.trailerFields ?? response.trailerFields
            outcome.trailers = trailers.map { "\($0.name.rawName): \($0.value)" }
        } catch {
            outcome.failure = error
        }
        return outcome
    }
}

/// The ways to deliver a body. A server's fault must have the same result in each of them.
let deliveries: [TransportOptions.Delivery] = [.collected(upTo: 1 << 20), .streamed]
