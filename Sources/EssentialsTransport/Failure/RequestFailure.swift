import EssentialsTools

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
///     user = try await requests.get("users/1")
/// } catch {
///     if error.reason == .timeout { showRetry(error.remedy ?? error.message) }
/// }
/// ```
public struct RequestFailure: Error, Sendable {
    /// The parts of a failure.
    package struct Content: Sendable {
        package var reason: Reason
        package var phase: Phase
        package var message: String
        /// Whether the message was set by ``RequestFailure/with(message:)``, so that it is meant for people.
        package var hasOwnMessage = false
        package var remedy: String?
        package var host: String?
        package var request: String?
        package var attempt = 1
        package var transmission: Transmission?
        package var response: FailedResponse?
        package var chain: [CertificateFacts] = []
        package var earlier: [RequestFailure] = []
        package var underlying: (any Error)?
        /// Whether a later request can succeed although the reason says otherwise.
        package var isTemporary = false
    }

    private let storage: Shared<Content>

    /// Creates a failure.
    ///
    /// - Parameters:
    ///   - reason: The kind of failure.
    ///   - message: What happened, in one sentence without secrets.
    ///   - remedy: What to try, as an imperative sentence. The default is the remedy of the reason.
    ///   - phase: The phase in which the request failed.
    ///   - host: The host of the request.
    ///   - attempt: The number of the attempt that failed, from 1.
    ///   - transmission: How far the request came, if the transport knows it.
    ///   - response: The response, if one was received.
    ///   - chain: The certificates of the trust decision, leaf first.
    ///   - underlying: The underlying error.
    public init(
        _ reason: Reason, _ message: String, remedy: String? = nil, phase: Phase = .preparation, host: String? = nil,
        attempt: Int = 1, transmission: Transmission? = nil, response: FailedResponse? = nil,
        chain: [CertificateFacts] = [], underlying: (any Error)? = nil
    ) {
        storage = Shared(
            Content(
                reason: reason, phase: phase, message: message, remedy: remedy, host: host, attempt: attempt,
                transmission: transmission, response: response, chain: chain, underlying: underlying))
    }

    private init(_ content: Content) { storage = Shared(content) }

    /// The failure with some parts changed.
    package func changed(_ change: (inout Content) -> Void) -> RequestFailure {
        var content = storage.values
        change(&content)
        return RequestFailure(content)
    }

    /// The failure with the request that failed, unless it names one already.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL, or the path below a base URL. Its query is left out.
    package func naming(_ method: HTTPRequest.Method, _ url: some StringProtocol) -> RequestFailure {
        guard request == nil else { return self }
        let shown = Substring(url).utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return changed { $0.request = "\(method.rawValue) \(Substring(shown))" }
    }

    private var content: Content { storage.values }

    /// The kind of failure. Its ``Reason/name`` is stable across versions.
    public var reason: Reason { content.reason }
    /// The phase in which the request failed.
    public var phase: Phase { content.phase }
    /// What happened, in one sentence.
    public var message: String { content.message }
    /// Whether ``with(message:)`` has set the message.
    package var hasOwnMessage: Bool { content.hasOwnMessage }
    /// What to try. `nil` if nothing helps, as after a cancellation.
    public var remedy: String? { content.remedy ?? content.reason.remedy }
    /// The normalized host of the request, if there is one.
    public var host: String? { content.host }
    /// The method and the URL of the request without its query, such as `GET https://api.example.com/users/7`. The
    /// path alone if the request failed before it had a URL. `nil` for failures outside a data-request service.
    public var request: String? { content.request }
    /// The number of the attempt that failed, counted from 1. It is above 1 if the request was retried.
    public var attempt: Int { content.attempt }
    /// How far the request came; `nil` if the transport does not know it.
    public var transmission: Transmission? { content.transmission }
    /// The failures of earlier attempts, oldest first: at most 8, without bodies. Empty if the request was not retried.
    public var earlierFailures: [RequestFailure] { content.earlier }
    /// The response, if one was received (``Reason/status``, ``Reason/decoding``, ``Reason/emptyBody``).
    public var response: FailedResponse? { content.response }
    /// The status of the ``response``, if one was received.
    ///
    /// ```swift
    /// switch failure.status {
    /// case .notFound?, .gone?: return nil
    /// case .tooManyRequests?, .serviceUnavailable?: try await clock.sleep(for: failure.retryAfter() ?? .seconds(1))
    /// default: throw failure
    /// }
    /// ```
    public var status: HTTPResponse.Status? { content.response?.head.status }
    /// The certificates of the trust decision, leaf first; empty for other failures.
    public var chain: [CertificateFacts] { content.chain }
    /// The underlying error, if any.
    public var underlying: (any Error)? { content.underlying }
    /// Whether a later request can succeed although failures with this reason are final otherwise: a token provider has
    /// failed, and is called again.
    package var isTemporary: Bool { content.isTemporary }
    /// The failure of the token provider if there is no token for the time being, and otherwise this failure. Its reason
    /// says whether the network or a server was out of order.
    package var decisive: RequestFailure { isTemporary ? underlying as? RequestFailure ?? self : self }
}

/// Two failures are equal if they have the same reason, status, request and host. Texts make no difference, because
/// they can contain times and addresses.
extension RequestFailure: Hashable {
    /// Compares reason, status, request and host.
    public static func == (one: RequestFailure, other: RequestFailure) -> Bool {
        one.reason == other.reason && one.status == other.status && one.request == other.request
            && one.host == other.host
    }

    /// Hashes reason, status, request and host.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(status)
        hasher.combine(request)
        hasher.combine(host)
    }
}

extension RequestFailure: CustomStringConvertible {
    /// The reason, message and remedy in one line, followed by at most two underlying errors.
    ///
    /// ```
    /// protocolViolation: http://a.example is an SSH server. Correct the port.
    /// ```
    ///
    /// An underlying failure is shown by its reason and message, a ``SystemError`` by its text, and any other error
    /// only by its type, because its text may contain secrets. The text of a ``SystemError`` is not repeated. If the
    /// request was retried, the reasons of the earlier failures follow.
    public var description: String { "\(reason.name): \(advice)\(shownCauses)\(shownAttempts)" }

    private var shownAttempts: String {
        guard !earlierFailures.isEmpty else { return "" }
        let reasons = earlierFailures.map { failure in
            failure.status.map { "\(failure.reason.name) \($0.code)" } ?? failure.reason.name
        }
        return " There were \(attempt) attempts; earlier failures: \(reasons.joined(separator: ", "))."
    }

    /// The message and the remedy.
    package var advice: String { remedy.map { "\(message) \($0)" } ?? message }

    /// The maximum number of underlying errors in a description.
    private static let maximumCauses = 2

    private var shownCauses: String {
        var text = ""
        var next = underlying
        for _ in 0..<Self.maximumCauses {
            switch next {
            // The message of the failure says the same as `CircuitOpen`.
            case nil, is CircuitOpen: return text
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
