/// The hash functions that Digest authentication needs (RFC 7616, 6.1), computed by whoever makes this value: this module
/// computes none itself.
///
/// ```swift
/// let hash = DigestHash { function, bytes in
///     function == .sha256 ? Array(SHA256.hash(data: bytes)) : nil
/// }
/// ```
public struct DigestHash: Sendable {
    /// A hash function, the weakest first.
    public enum Function: Int, Sendable, Hashable, CaseIterable {
        /// MD5 (RFC 1321): all that servers of RFC 2069 and RFC 2617 know.
        case md5
        /// SHA-256 (FIPS 180-4).
        case sha256
        /// SHA-512/256 (FIPS 180-4), which is not the beginning of SHA-512's hash.
        case sha512Over256
    }

    /// The hash of bytes; nil for a function that cannot be computed here.
    public let compute: @Sendable (Function, [UInt8]) -> [UInt8]?

    /// Makes a value.
    ///
    /// - Parameter compute: The hash of bytes; nil for a function that it lacks, whose challenges then are not answered.
    ///   Callable from any thread.
    public init(_ compute: @escaping @Sendable (Function, [UInt8]) -> [UInt8]?) { self.compute = compute }

    /// In lower-case hexadecimal digits (RFC 7616, 3.1.3).
    package func hexadecimal(_ function: Function, _ bytes: [UInt8]) -> [UInt8]? {
        compute(function, bytes).map { $0.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] } }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
