/// The differences between the requests that a test expected and those that were sent.
///
/// ```swift
/// do { try request.expect(json: user) } catch { print(error) }      // body: $.name: expected "Ann", was "Bob"
/// ```
///
/// The differences may contain queries and bodies. They are meant for a test's output, not for a log.
public struct RequestMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line for each difference; never empty.
    public let differences: [String]

    init(_ differences: [String]) { self.differences = differences }

    /// The differences, one on each line.
    public var description: String { differences.joined(separator: "\n") }

    /// Throws the differences if there are any.
    static func check(_ differences: [String]) throws(RequestMismatch) {
        if !differences.isEmpty { throw RequestMismatch(differences) }
    }
}
