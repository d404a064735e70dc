/// The hash functions of Digest authentication (RFC 7616, 6.1), which the program supplies.
///
/// This module contains no hash functions of its own.
///
/// ```swift
/// let hash = DigestHash { function, bytes in
///     function == .sha256 ? Array(SHA256.hash(data: bytes)) : nil
/// }
/// ```
public struct DigestHash: Sendable {
    /// A hash function. The cases are in order of strength, the weakest first.
    public enum Function: Int, Sendable, Hashable, CaseIterable {
        /// MD5 (RFC 1321), the only function that servers of RFC 2069 and RFC 2617 know.
        case md5
        /// SHA-256 (FIPS 180-4).
        case sha256
        /// SHA-512/256 (FIPS 180-4), which is not a truncated SHA-512 hash.
        case sha512Over256
    }

    /// Computes the hash of bytes. It returns `nil` for an unsupported function.
    public let compute: @Sendable (Function, [UInt8]) -> [UInt8]?

    /// Creates the hash functions from a closure.
    ///
    /// - Parameter compute: Computes the hash of bytes, or returns `nil` for an unsupported function. Challenges that
    ///   require an unsupported function are not answered. It is called from any thread.
    public init(_ compute: @escaping @Sendable (Function, [UInt8]) -> [UInt8]?) { self.compute = compute }

    /// The hash in lower-case hexadecimal digits (RFC 7616, 3.1.3).
    package func hexadecimal(_ function: Function, _ bytes: [UInt8]) -> [UInt8]? {
        compute(function, bytes).map { $0.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] } }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
