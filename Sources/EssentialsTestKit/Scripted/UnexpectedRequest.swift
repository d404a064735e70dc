/// A request for which a ``ScriptedTransport`` had no answer.
///
/// ```swift
/// #expect(transport.unexpected.isEmpty, "\(transport.unexpected)")
/// ```
public struct UnexpectedRequest: Sendable, CustomStringConvertible {
    /// How many of the nearest rules are named.
    private static let shownRules = 3

    /// The request.
    public let request: RecordedRequest
    /// The request, and what did not fit of the rules nearest to it. Queries and bodies are in it, credentials in known
    /// header fields are not: it is for a test's output.
    public let description: String

    /// - Parameter comparisons: The rules with what did not fit, those first that are asked first.
    init(
        _ request: RecordedRequest, comparisons: [(rule: String, comparison: RequestPattern.Comparison)]
    ) {
        self.request = request
        var lines = request.lines.map { "  " + $0 }
        let order = comparisons.indices.sorted {
            (comparisons[$0].comparison.distance, $0) < (comparisons[$1].comparison.distance, $1)
        }
        let shown = order.prefix(Self.shownRules)
        lines.append(
            comparisons.isEmpty
                ? "The script has no rules."
                : shown.count == comparisons.count ? "The rules:" : "The nearest of \(comparisons.count) rules:")
        for index in shown {
            lines.append("  " + comparisons[index].rule)
            lines += comparisons[index].comparison.lines.map { "    " + $0 }
        }
        description = lines.joined(separator: "\n")
    }
}
