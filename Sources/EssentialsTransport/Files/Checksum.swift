/// Computes a hash incrementally. An instance is used by one thread at a time.
public protocol IncrementalHash: AnyObject {
    /// Adds bytes. The pointer is valid only during the call.
    func update(_ bytes: UnsafeRawBufferPointer)
    /// Returns the hash of all bytes. It is called once, after the last update.
    func finish() -> [UInt8]
}

/// The expected hash of a downloaded file.
///
/// This module computes no hashes; `makeHash` supplies the implementation. The download options of
/// `EssentialsHTTP` accept a checksum.
///
/// ```swift
/// var options = DownloadOptions()
/// options.checksum = Checksum(name: "sha-256", expected: published) { SHA256Digest() }
/// ```
public struct Checksum: Sendable {
    /// The name of the algorithm for failures, such as `sha-256`.
    public let name: String
    /// The expected hash.
    public let expected: [UInt8]
    /// Creates an empty hash. It is called on a file thread, where the hash is then used.
    public let makeHash: @Sendable () -> any IncrementalHash

    /// Creates a checksum.
    public init(name: String, expected: [UInt8], makeHash: @escaping @Sendable () -> any IncrementalHash) {
        self.name = name
        self.expected = expected
        self.makeHash = makeHash
    }

    /// Formats bytes in hexadecimal for a failure.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}
