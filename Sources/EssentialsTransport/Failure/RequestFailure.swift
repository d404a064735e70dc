#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The error type of requests, transports and trust policies.
///
/// A failure describes what happened, in which phase, and what to try. Its texts never contain query
/// strings, credentials or bodies. Copying it costs one retain. Programs that import Foundation get the
/// message as `localizedDescription`.
///
/// ```swift
/// do throws(RequestFailure) {
///     let user: User = try await requests.get("users/1")
/// } catch {
///     if error.reason == .timeout { showRetry(error.remedy ?? error.message) }
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

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - reason: The kind of failure.
    ///   - message: What happened, in one sentence without secrets.
    ///   - remedy: What to try, as an imperative sentence. The default is the remedy of the reason.
    ///   - phase: The phase in which the request failed.
    ///   - host: The host of the request.
    ///   - attempt: The number of the attempt that failed, from 1.
    ///   - response: The response, if one was received.
    ///   - chain: The certificates of the trust decision, leaf first.
    ///   - underlying: The underlying error.
    public init(
        _ reason: Reason, _ message: String, remedy: String? = nil, phase: Phase = .preparation, host: String? = nil,
        attempt: Int = 1, response: FailedResponse? = nil, chain: [CertificateFacts] = [],
        underlying: (any Error)? = nil
    ) {
        storage = Storage(
            reason: reason, phase: phase, message: message, remedy: remedy, host: host, attempt: attempt,
            response: response, chain: chain, underlying: underlying)
    }

    /// The kind of failure. Its ``Reason/name`` is stable across versions.
    public var reason: Reason { storage.reason }
    /// The phase in which the request failed.
    public var phase: Phase { storage.phase }
    /// What happened, in one sentence.
    public var message: String { storage.message }
    /// What to try. `nil` if nothing helps, as after a cancellation.
    public var remedy: String? { storage.remedy ?? storage.reason.remedy }
    /// The normalized host of the request, if there is one.
    public var host: String? { storage.host }
    /// The number of the attempt that failed, counted from 1.
    public var attempt: Int { storage.attempt }
    /// The response, if one was received (``Reason/status``, ``Reason/decoding``, ``Reason/emptyBody``).
    public var response: FailedResponse? { storage.response }
    /// The certificates of the trust decision, leaf first; empty for other failures.
    public var chain: [CertificateFacts] { storage.chain }
    /// The underlying error, if any.
    public var underlying: (any Error)? { storage.underlying }
}

extension RequestFailure: CustomStringConvertible {
    /// The reason, message and remedy in one line, followed by at most two underlying errors.
    ///
    /// ```
    /// protocolViolation: http://a.example is an SSH server. Correct the port.
    /// ```
    ///
    /// An underlying failure is shown by its reason and message, a ``SystemError`` by its text, and any other error
    /// only by its type, because its text may contain secrets. The text of a ``SystemError`` is not repeated.
    public var description: String { "\(reason.name): \(advice)\(shownCauses)" }

    /// The message and the remedy.
    package var advice: String { remedy.map { "\(message) \($0)" } ?? message }

    /// The maximum number of underlying errors in a description.
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
                // Most messages already contain the system's text.
                if !message.contains(error.description) { text += " Caused by \(error)." }
                next = nil
            case let error?:
                text += " Caused by \(type(of: error))."
                next = nil
            }
        }
        return text
    }
}

/// The texts of `localizedDescription` in programs that import Foundation. They are in English.
extension RequestFailure: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The reason's stable name.
    public var failureReason: String? { reason.name }
    /// The remedy.
    public var recoverySuggestion: String? { remedy }
}

extension RequestFailure {
    /// The start of a text for a message, without credentials, query and invisible characters.
    package static func shown(_ text: some StringProtocol) -> String {
        guard !text.utf8.contains(UInt8(ascii: "@")) else { return "…" }
        var visible = ""
        for scalar in text.unicodeScalars.prefix(60) {
            if scalar == "?" || scalar == "#" { break }
            visible.unicodeScalars.append(scalar.isInvisible ? "\u{FFFD}" : scalar)
        }
        return visible
    }
}
