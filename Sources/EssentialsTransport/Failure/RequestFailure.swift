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
        let request: String?
        let attempt: Int
        let response: FailedResponse?
        let chain: [CertificateFacts]
        let underlying: (any Error)?

        init(
            reason: Reason, phase: Phase, message: String, remedy: String?, host: String?, request: String?,
            attempt: Int, response: FailedResponse?, chain: [CertificateFacts], underlying: (any Error)?
        ) {
            self.reason = reason
            self.phase = phase
            self.message = message
            self.remedy = remedy
            self.host = host
            self.request = request
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
            reason: reason, phase: phase, message: message, remedy: remedy, host: host, request: nil,
            attempt: attempt, response: response, chain: chain, underlying: underlying)
    }

    /// The failure with the request that failed, unless it names one already.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL, or the path below a base URL. Its query is left out.
    package func naming(_ method: HTTPRequest.Method, _ url: some StringProtocol) -> RequestFailure {
        guard storage.request == nil else { return self }
        let shown = Substring(url).utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        return RequestFailure(storage, request: "\(method.rawValue) \(Substring(shown))")
    }

    private init(_ failure: Storage, request: String) {
        storage = Storage(
            reason: failure.reason, phase: failure.phase, message: failure.message, remedy: failure.remedy,
            host: failure.host, request: request, attempt: failure.attempt, response: failure.response,
            chain: failure.chain, underlying: failure.underlying)
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
    /// The method and the URL of the request without its query, such as `GET https://api.example.com/users/7`. The
    /// path alone if the request failed before it had a URL. `nil` for failures outside a data-request service.
    public var request: String? { storage.request }
    /// The number of the attempt that failed, counted from 1.
    public var attempt: Int { storage.attempt }
    /// The response, if one was received (``Reason/status``, ``Reason/decoding``, ``Reason/emptyBody``).
    public var response: FailedResponse? { storage.response }
    /// The status of the ``response``, if one was received.
    ///
    /// ```swift
    /// switch failure.status {
    /// case .notFound?, .gone?: return nil
    /// case .tooManyRequests?, .serviceUnavailable?: try await clock.sleep(for: failure.retryAfter() ?? .seconds(1))
    /// default: throw failure
    /// }
    /// ```
    public var status: HTTPResponse.Status? { storage.response?.head.status }
    /// The certificates of the trust decision, leaf first; empty for other failures.
    public var chain: [CertificateFacts] { storage.chain }
    /// The underlying error, if any.
    public var underlying: (any Error)? { storage.underlying }
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
