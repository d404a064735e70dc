/// Takes bytes one by one and gives their digest. Used by one thread at a time.
public protocol IncrementalHash: AnyObject {
    /// Takes more bytes. The pointer is valid during the call only.
    func update(_ bytes: UnsafeRawBufferPointer)
    /// The digest of all bytes. Called once, last.
    func finish() -> [UInt8]
}

/// What a downloaded file must come to.
///
/// This module computes no digest itself; `makeHash` brings one. The downloads of `EssentialsHTTP` take it among their
/// options.
///
/// ```swift
/// var options = DownloadOptions()
/// options.checksum = Checksum(name: "sha-256", expected: published) { SHA256Digest() }
/// ```
public struct Checksum: Sendable {
    /// What failures call it, such as `sha-256`.
    public let name: String
    /// The digest that the file must have.
    public let expected: [UInt8]
    /// Makes a digest that has taken nothing yet. Called on a file thread, where the digest is then used.
    public let makeHash: @Sendable () -> any IncrementalHash

    /// Makes a checksum.
    public init(name: String, expected: [UInt8], makeHash: @escaping @Sendable () -> any IncrementalHash) {
        self.name = name
        self.expected = expected
        self.makeHash = makeHash
    }

    /// Bytes as a failure shows them.
    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
    }
}
