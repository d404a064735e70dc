/// A request that no rule of a ``ScriptedTransport`` answered.
///
/// ```swift
/// #expect(transport.unexpected.isEmpty, "\(transport.unexpected)")
/// ```
public struct UnexpectedRequest: Sendable, CustomStringConvertible {
    /// The maximum number of rules that are described.
    private static let shownRules = 3

    /// The request.
    public let request: RecordedRequest
    /// The request and its differences from the nearest rules. It contains queries and bodies, but no credentials of
    /// known header fields; it is meant for a test's output.
    public let description: String

    /// - Parameter comparisons: The rules with their differences, in the order in which they are tried.
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
