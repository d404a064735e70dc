/// Finds the addresses of host names. A seam: a resolver of your own can use DNS over HTTPS, or a table in a test.
///
/// ```swift
/// struct Table: AddressResolver {
///     let addresses: [String: [NetworkAddress]]
///     func addresses(of name: String) async throws -> [NetworkAddress] { addresses[name] ?? [] }
/// }
/// ```
public protocol AddressResolver: Sendable {
    /// The addresses of a name, the preferred ones first. None, and any error, count as a name that is not resolved.
    ///
    /// Cancelled when nobody waits for the result any more.
    func addresses(of name: String) async throws -> [NetworkAddress]
}
