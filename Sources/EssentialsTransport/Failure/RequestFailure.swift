/// Why a request did not give what was asked for: the one error type of requests, transports and trust policies.
///
/// A failure says what happened, how far the request had come, and what to try. It never holds query strings,
/// credentials or bodies in its text. Copying it costs one retain. Programs that import Foundation get the message as
/// `localizedDescription`.
///
/// ```swift
/// do throws(RequestFailure) {
///     let user: User = try await requests.get("users/1")
/// } catch {
///     if error.reason == .timeout { showRetry(error.remedy) }
/// }
/// ```
public struct RequestFailure: Error, Sendable {
    private final class Storage: Sendable {
        let reason: Reason
        let phase: Phase
        let message: String
        let remedy: String?
        let host: String?
        let attempt: Int
        let response: FailedResponse?
        let chain: [CertificateFacts]
        let underlying: (any Error)?

        init(
            reason: Reason, phase: Phase, message: String, remedy: String?, host: String?, attempt: Int,
            response: FailedResponse?, chain: [CertificateFacts], underlying: (any Error)?
        ) {
            self.reason = reason
            self.phase = phase
            self.message = message
            self.remedy = remedy
            self.host = host
            self.attempt = attempt
            self.response = response
            self.chain = chain
            self.underlying = underlying
        }
    }

    private let storage: Storage

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - reason: What kind of failure it is.
    ///   - message: What happened, in one sentence without a secret in it.
    ///   - remedy: What to try. The reason's own advice when nil.
    ///   - phase: How far the request had come.
    ///   - host: The host it was for.
    ///   - attempt: Which attempt failed, from 1.
    ///   - response: What the server answered, for failures that have an answer.
    ///   - chain: The certificates that a trust decision saw, leaf first.
    ///   - underlying: The error below this one.
    public init(
        _ reason: Reason, _ message: String, remedy: String? = nil, phase: Phase = .preparation, host: String? = nil,
        attempt: Int = 1, response: FailedResponse? = nil, chain: [CertificateFacts] = [],
        underlying: (any Error)? = nil
    ) {
        storage = Storage(
            reason: reason, phase: phase, message: message, remedy: remedy, host: host, attempt: attempt,
            response: response, chain: chain, underlying: underlying)
    }

    /// What kind of failure this is; its ``Reason/name`` is stable across versions.
    public var reason: Reason { storage.reason }
    /// How far the request had come.
    public var phase: Phase { storage.phase }
    /// What happened, in one sentence.
    public var message: String { storage.message }
    /// What to try.
    public var remedy: String { storage.remedy ?? storage.reason.remedy }
    /// The normalised host that the request was for, where there was one.
    public var host: String? { storage.host }
    /// Which attempt failed, counted from 1.
    public var attempt: Int { storage.attempt }
    /// The server's answer, for failures that have one (``Reason/status``, ``Reason/decoding``, ``Reason/emptyBody``).
    public var response: FailedResponse? { storage.response }
    /// The certificates that a trust decision saw, leaf first; empty for other failures.
    public var chain: [CertificateFacts] { storage.chain }
    /// The error below this one, if any.
    public var underlying: (any Error)? { storage.underlying }
}

extension RequestFailure: CustomStringConvertible {
    /// Reason, message and remedy in one line, and the causes: the errors below this one, at most two.
    ///
    /// A cause that is a failure is shown by its reason and message, a ``SystemError`` by its text, and any other error by
    /// its type alone, because its own text may hold what no log should.
    public var description: String { "\(reason.name): \(message) \(remedy)\(shownCauses)" }

    /// How many of the errors below a failure its description shows.
    private static let maximumCauses = 2

    private var shownCauses: String {
        var text = ""
        var next = underlying
        for _ in 0..<Self.maximumCauses {
            switch next {
            case nil: return text
            case let failure as RequestFailure:
                text += " Caused by \(failure.reason.name): \(failure.message)"
                next = failure.underlying
            case let error as SystemError:
                text += " Caused by \(error)."
                next = nil
            case let error?:
                text += " Caused by \(type(of: error))."
                next = nil
            }
        }
        return text
    }
}
