import CEssentials
public import EssentialsTransport

extension Checksum {
    /// The SHA-256 digest that a file must have, as 64 hexadecimal digits, computed by OpenSSL. For the downloads
    /// of `EssentialsHTTP`.
    ///
    /// ```swift
    /// var options = DownloadOptions()
    /// options.checksum = try .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
    /// ```
    ///
    /// - Throws: `invalidRequest` for anything but 64 hexadecimal digits.
    public static func sha256(_ hexadecimal: String) throws(RequestFailure) -> Checksum {
        let digits = Array(hexadecimal.utf8)
        let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
        }
        guard digits.count == 64, bytes.count == 32, !digits.contains(UInt8(ascii: "+")) else {
            throw RequestFailure(
                .invalidRequest, "The SHA-256 digest is not 64 hexadecimal digits.",
                remedy: "Copy the whole digest, as sha256sum prints it.")
        }
        return Checksum(name: "sha-256", expected: bytes) { SHA256Digest() }
    }
}

/// A SHA-256 digest that is being computed.
private final class SHA256Digest: IncrementalHash {
    // Owned; nil when there was no memory, and after a failure: then the digest is empty, which equals no other.
    private var pointer = ce_digest_create()

    deinit { ce_digest_destroy(pointer) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        guard let digest = pointer, !ce_digest_update(digest, bytes.baseAddress, bytes.count) else { return }
        ce_digest_destroy(digest)
        pointer = nil
    }

    func finish() -> [UInt8] {
        guard let pointer else { return [] }
        var digest = [UInt8](repeating: 0, count: 32)
        return ce_digest_finish(pointer, &digest) ? digest : []
    }
}
