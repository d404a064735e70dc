import EssentialsHTTP

/// The statuses that are a success. Others fail as `status`.
///
/// ```swift
/// request.expectedStatus = [200...299, 304...304]
/// request.expectedStatus = 201
/// request.expectedStatus = .codes([200, 404])
/// request.expectedStatus = .matching { $0 < 500 }
/// ```
public struct StatusExpectation: Sendable, ExpressibleByArrayLiteral, ExpressibleByIntegerLiteral {
    private enum Content: Sendable {
        /// The usual expectation, which needs no array.
        case success
        case any
        case ranges([ClosedRange<Int>])
        case matching(@Sendable (Int) -> Bool)
    }

    private let content: Content

    private init(_ content: Content) { self.content = content }

    /// 200 to 299.
    public static var success: StatusExpectation { StatusExpectation(.success) }
    /// Every status, so that none is a failure.
    ///
    /// It names no status in particular, so a retry policy applies as if only 200 to 299 were expected. Any other
    /// expectation that contains 503, for example, says that such a response is a success, which is not retried.
    public static var any: StatusExpectation { StatusExpectation(.any) }

    /// Only these codes.
    public static func codes(_ codes: Set<Int>) -> StatusExpectation {
        StatusExpectation(.ranges(codes.sorted().map { $0...$0 }))
    }

    /// The codes for which the closure returns `true`. It is called in the task of the request, and may be called more
    /// than once for a response.
    public static func matching(_ isExpected: @escaping @Sendable (Int) -> Bool) -> StatusExpectation {
        StatusExpectation(.matching(isExpected))
    }

    /// Only this code.
    public init(integerLiteral code: Int) { self = .codes([code]) }
    /// The codes in these ranges.
    public init(_ ranges: [ClosedRange<Int>]) { self.init(.ranges(ranges)) }
    /// The codes in these ranges.
    public init(arrayLiteral elements: ClosedRange<Int>...) { self.init(.ranges(elements)) }

    /// Whether a status is a success.
    public func contains(_ code: Int) -> Bool {
        switch content {
        case .success: (200...299).contains(code)
        case .any: true
        case .ranges(let ranges): ranges.contains { $0.contains(code) }
        case .matching(let isExpected): isExpected(code)
        }
    }

    /// The statuses of this expectation and of another one.
    public func union(_ other: StatusExpectation) -> StatusExpectation {
        if isAny || other.isAny { return .any }
        if let ranges, let others = other.ranges { return StatusExpectation(ranges + others) }
        return .matching { self.contains($0) || other.contains($0) }
    }

    private var isAny: Bool { if case .any = content { true } else { false } }

    /// Whether the expectation is about this status in particular, so that such a response is a success for a retry
    /// policy too.
    func declares(_ code: Int) -> Bool { !isAny && contains(code) }

    /// Whether the expectation has no status at all.
    var isEmpty: Bool {
        if case .ranges(let ranges) = content { ranges.isEmpty } else { false }
    }

    /// Whether the expectation is ``success``.
    package var isStandard: Bool {
        if case .success = content { true } else { false }
    }

    /// The statuses; `nil` if a closure decides about them.
    var ranges: [ClosedRange<Int>]? {
        switch content {
        case .success: [200...299]
        case .any: [0...999]
        case .ranges(let ranges): ranges
        case .matching: nil
        }
    }
}

extension RequestFailure {
    /// The failure of a request whose expectation is empty.
    static var expectsNothing: RequestFailure {
        RequestFailure(
            .invalidRequest, "The request expects no status at all, so it could only fail.",
            remedy: "Name at least one status.")
    }
}
