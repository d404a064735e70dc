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
        case ranges([ClosedRange<Int>])
        case matching(@Sendable (Int) -> Bool)
    }

    private let content: Content

    private init(_ content: Content) { self.content = content }

    /// 200 to 299.
    public static var success: StatusExpectation { StatusExpectation(.success) }
    /// Every status, so that none is a failure.
    public static let any: StatusExpectation = [0...999]

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
        case .ranges(let ranges): ranges.contains { $0.contains(code) }
        case .matching(let isExpected): isExpected(code)
        }
    }

    /// The statuses of this expectation and of another one.
    public func union(_ other: StatusExpectation) -> StatusExpectation {
        if let ranges, let others = other.ranges { return StatusExpectation(ranges + others) }
        return .matching { self.contains($0) || other.contains($0) }
    }

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
