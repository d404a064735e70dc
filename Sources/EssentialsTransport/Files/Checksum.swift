/// Computes a digest incrementally. An instance is used by one thread at a time.
public protocol IncrementalDigest: AnyObject {
    /// Adds bytes. The pointer is valid only during the call.
    func update(_ bytes: UnsafeRawBufferPointer)
    /// Returns the digest of all bytes. It is called once, after the last update.
    func finish() -> [UInt8]
}

/// The expected digest of a downloaded file.
///
/// This module computes no digests; `makeDigest` supplies the implementation. The download options of
/// `EssentialsHTTP` accept a checksum.
///
/// ```swift
/// var options = DownloadOptions()
/// options.checksum = Checksum(name: "sha-256", expected: published) { SHA256Digest() }
/// ```
public struct Checksum: Sendable {
    /// The name of the algorithm for failures, such as `sha-256`.
    public let name: String
    /// The expected digest.
    public let expected: [UInt8]
    /// Creates an empty digest. It is called on a file thread, where the digest is then used.
    public let makeDigest: @Sendable () -> any IncrementalDigest

    /// Creates a checksum.
    public init(name: String, expected: [UInt8], makeDigest: @escaping @Sendable () -> any IncrementalDigest) {
        self.name = name
        self.expected = expected
        self.makeDigest = makeDigest
    }

    /// Formats bytes in hexadecimal for a failure.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}
