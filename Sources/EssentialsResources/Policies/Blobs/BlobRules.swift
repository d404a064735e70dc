import EssentialsHTTP
import FoundationEssentials

/// Decides how long a blob is fresh, and what happens to a response.
enum BlobRules {
    /// The largest lifetime that counts: some decades (RFC 9111, 1.2.2).
    private static let longest: Int64 = 1 << 31

    /// How long a response is fresh according to the server; `nil` if the server says nothing.
    ///
    /// `max-age` has precedence over `Expires`, and `no-cache` means that the server is asked each time
    /// ([RFC 9111, 4.2.1 and 5.2.2.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.1)). Of several values the
    /// shortest one counts.
    static func lifetime(of fields: HTTPFields, receivedAt now: Date) -> Duration? {
        let directives = directives(of: fields)
        if directives.contains(where: { $0.name == "no-cache" }) { return .zero }
        let ages = directives.filter { $0.name == "max-age" }.map { seconds($0.value) }
        if let shortest = ages.min() { return .seconds(shortest) }
        guard let text = fields[.expires] else { return nil }
        // An invalid date, especially “0”, lies in the past (RFC 9111, 5.3).
        guard let expires = HTTPDate.date(from: text, now: now) else { return .zero }
        let start = fields[.date].flatMap { HTTPDate.date(from: $0, now: now) } ?? now
        return .seconds(min(max(expires.timeIntervalSince(start), 0), Double(longest)))
    }

    /// Whether a stale blob may be used if the server cannot be reached (RFC 9111, 4.2.4).
    static func allowsStale(_ fields: HTTPFields) -> Bool {
        !directives(of: fields).contains { ["no-cache", "must-revalidate"].contains($0.name) }
    }

    /// Whether a failure means that the server could not be reached or has failed, so that a stale blob may take the place
    /// of the response ([RFC 5861, 4](https://www.rfc-editor.org/rfc/rfc5861#section-4)).
    static func isOutage(_ failure: RequestFailure) -> Bool {
        switch failure.reason {
        case .nameResolution, .connection, .timeout, .interrupted: true
        case .status: [500, 502, 503, 504].contains(failure.status?.code)
        default: false
        }
    }

    /// Whether a failure means that there is nothing at the URL any more.
    static func isGone(_ failure: RequestFailure) -> Bool {
        failure.reason == .status && [404, 410].contains(failure.status?.code)
    }

    /// Whether a response may be stored; see ``CacheRules``.
    static func allowsStoring(
        _ status: Int, _ fields: HTTPFields, isPersonal: Bool, partition: EntityPartition, allowsSensitive: Bool
    ) -> Bool {
        guard status == 200 || status == 203 else { return false }
        guard !allowsSensitive else { return true }
        if directives(of: fields).contains(where: { $0.name == "no-store" }) { return false }
        return !isPersonal || !partition.isShared
    }

    private static func directives(of fields: HTTPFields) -> [(name: String, value: Substring)] {
        fields[fields: .cacheControl].flatMap { $0.value.split(separator: ",") }.map { directive in
            let parts = directive.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.map { $0.filter { !$0.isWhitespace }.lowercased() } ?? ""
            return (name, parts.count > 1 ? parts[1] : "")
        }
    }

    /// A number of seconds. What is no number is stale at once (RFC 9111, 4.2.1).
    private static func seconds(_ text: Substring) -> Int64 {
        let digits = text.filter { $0 != "\"" && !$0.isWhitespace }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return 0
        }
        return min(Int64(digits) ?? longest, longest)
    }
}
