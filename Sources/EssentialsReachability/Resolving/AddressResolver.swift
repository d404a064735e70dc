/// Resolves host names. A custom resolver can use DNS over HTTPS, or a table in a test.
///
/// ```swift
/// struct Table: AddressResolver {
///     let addresses: [String: [NetworkAddress]]
///     func addresses(of name: String) async throws -> [NetworkAddress] { addresses[name] ?? [] }
/// }
/// ```
public protocol AddressResolver: Sendable {
    /// The addresses of a name, the preferred ones first. An empty result and every error mean that the name is not
    /// resolved.
    ///
    /// The task is cancelled when the result is no longer needed.
    func addresses(of name: String) async throws -> [NetworkAddress]
}
