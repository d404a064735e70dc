#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RequestFailure {
    /// A short text for the users of an application, which is never empty. `message` is for developers.
    ///
    /// It is the first of these texts that exists:
    ///
    /// 1. the message that was set by `with(message:)`, in this failure or one that caused it;
    /// 2. the `errorDescription` of an underlying error of the application that conforms to `LocalizedError`;
    /// 3. for an unexpected status from 400 upward, its registered phrase in sentence case, such as “Not found”;
    /// 4. the `summary` of the reason.
    ///
    /// ```swift
    /// label.text = failure.summary              // "Too many requests"
    /// ```
    ///
    /// The last two are in English. Queries, fragments and credentials of URLs are removed from the second; the first is
    /// not changed.
    public var summary: String { ownMessage ?? causeSummary ?? statusSummary ?? reason.summary }

    private var causeSummary: String? {
        // The messages of failures are for developers.
        guard let cause = underlying as? any LocalizedError, !(cause is RequestFailure),
            let text = cause.errorDescription, !text.allSatisfy(\.isWhitespace)
        else { return nil }
        return Self.withoutURLSecrets(text)
    }

    private var statusSummary: String? {
        guard reason == .status, let status, status.code >= 400 else { return nil }
        return status.registeredPhrase.map(Self.inSentenceCase)
    }

    /// A phrase whose words are in lower case, except abbreviations and the first letter.
    private static func inSentenceCase(_ phrase: String) -> String {
        let words = phrase.split(separator: " ").enumerated().map { index, word in
            if word == word.uppercased() { return String(word) }
            let lower = word.lowercased()
            return index == 0 ? lower.prefix(1).uppercased() + lower.dropFirst() : lower
        }
        return words.joined(separator: " ")
    }

    /// A text whose URLs have no queries, fragments and credentials.
    private static func withoutURLSecrets(_ text: String) -> String {
        text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard let colon = word.firstRange(of: "://") else { return String(word) }
            let rest = word[colon.upperBound...]
            let shown = rest.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            var kept = Substring(shown)
            let authority = kept.utf8.prefix { $0 != UInt8(ascii: "/") }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) { kept = kept[kept.utf8.index(after: at)...] }
            return word[..<colon.upperBound] + kept + (shown.endIndex < rest.endIndex ? "?…" : "")
        }
        .joined(separator: " ")
    }
}
