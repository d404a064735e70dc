/// What a test expected of requests and did not find, line by line.
///
/// ```swift
/// do { try request.expect(json: user) } catch { print(error) }      // body: $.name: expected "Ann", was "Bob"
/// ```
///
/// The lines may hold queries and bodies: they are for a test's output, not for a log.
public struct RequestMismatch: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence for each thing that did not fit; never empty.
    public let differences: [String]

    init(_ differences: [String]) { self.differences = differences }

    /// The differences, one a line.
    public var description: String { differences.joined(separator: "\n") }

    /// Throws the differences if there are any.
    static func check(_ differences: [String]) throws(RequestMismatch) {
        if !differences.isEmpty { throw RequestMismatch(differences) }
    }
}
