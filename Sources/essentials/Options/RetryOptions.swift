import ArgumentParser
import ServiceEssentials

/// Whether and how a failed request is sent again.
struct RetryOptions: ParsableArguments {
    @Option(
        name: .customLong("retry"),
        help: ArgumentHelp(
            "Send a failed request again, up to this many times. A POST is only sent again if the server has not "
                + "processed it. (default: 0)", valueName: "count"))
    var count: Int?

    @Option(
        name: .customLong("retry-for"),
        help: ArgumentHelp("Send a failed request again within this time, such as 30s or 5m.", valueName: "time"),
        transform: DurationArgument.read)
    var time: Duration?

    @Flag(name: .customLong("retry-all"), help: "Also send a request again after the status 500.")
    var includesInternalErrors = false

    @Option(
        name: .customLong("idempotency-key"),
        help: ArgumentHelp(
            "Send the field Idempotency-Key, with a new key or with this text, so that a POST can be sent again.",
            valueName: "auto|text"))
    var key: String?

    func validate() throws {
        if let count, !(0...1_000).contains(count) { throw ValidationError("--retry must be between 0 and 1000.") }
        if count != nil, time != nil { throw ValidationError("Give --retry or --retry-for, not both.") }
        if includesInternalErrors, count == nil, time == nil {
            throw ValidationError("--retry-all needs --retry or --retry-for.")
        }
        if key == "" { throw ValidationError("--idempotency-key needs “auto” or a text.") }
    }

    /// The policy of the service.
    var policy: RetryPolicy {
        var policy = time.map { RetryPolicy.within($0) } ?? count.map { RetryPolicy.attempts($0 + 1) } ?? .never
        policy.retriesInternalServerError = includesInternalErrors
        return policy
    }

    var idempotencyKey: IdempotencyKey? { key.map { $0 == "auto" ? .automatic : .text($0) } }
}
