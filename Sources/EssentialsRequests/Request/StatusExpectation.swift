/// Which statuses are a success; others are the failure `status`.
///
/// ```swift
/// request.expectedStatus = [200...299, 304...304]
/// request.expectedStatus = .codes([200, 404])
/// request.expectedStatus = .matching { $0 < 500 }
/// ```
public struct StatusExpectation: Sendable, ExpressibleByArrayLiteral {
    private enum Content: Sendable {
        case ranges([ClosedRange<Int>])
        case matching(@Sendable (Int) -> Bool)
    }

    private let content: Content

    private init(_ content: Content) { self.content = content }

    /// 200 to 299.
    public static let success: StatusExpectation = [200...299]
    /// Whatever the server answers; nothing is a failure.
    public static let any: StatusExpectation = [0...999]

    /// These codes and no others.
    public static func codes(_ codes: Set<Int>) -> StatusExpectation {
        StatusExpectation(.ranges(codes.sorted().map { $0...$0 }))
    }

    /// The codes for which the closure says so. Called on the task that sends, once per answer.
    public static func matching(_ isExpected: @escaping @Sendable (Int) -> Bool) -> StatusExpectation {
        StatusExpectation(.matching(isExpected))
    }

    /// The codes within these ranges.
    public init(_ ranges: [ClosedRange<Int>]) { self.init(.ranges(ranges)) }
    /// The codes within these ranges.
    public init(arrayLiteral elements: ClosedRange<Int>...) { self.init(.ranges(elements)) }

    /// Whether a status is a success.
    public func contains(_ code: Int) -> Bool {
        switch content {
        case .ranges(let ranges): ranges.contains { $0.contains(code) }
        case .matching(let isExpected): isExpected(code)
        }
    }

    /// These, and those of another expectation.
    public func union(_ other: StatusExpectation) -> StatusExpectation {
        if case .ranges(let mine) = content, case .ranges(let others) = other.content {
            return StatusExpectation(mine + others)
        }
        return .matching { self.contains($0) || other.contains($0) }
    }

    /// Whether no status at all could be a success.
    var isEmpty: Bool {
        if case .ranges(let ranges) = content { ranges.isEmpty } else { false }
    }
}
