import CEssentials
public import EssentialsTransport

extension Checksum {
    /// The SHA-256 digest that a downloaded file must have, as 64 hexadecimal digits. OpenSSL computes it.
    ///
    /// ```swift
    /// var options = DownloadOptions()
    /// options.checksum = try .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
    /// ```
    ///
    /// - Throws: `invalidRequest` if the text is not 64 hexadecimal digits.
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
///
/// If OpenSSL fails or has no memory, the digest is empty, so it equals no other digest.
private final class SHA256Digest: IncrementalHash {
    // Owned. It is nil after a failure.
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

extension HashFunctions {
    /// The hash functions of OpenSSL. If OpenSSL is configured without MD5, challenges for MD5 are not answered.
    public static let openSSL = HashFunctions { function, bytes in
        let number: ce_hash_function =
            switch function {
            case .md5: CE_HASH_MD5
            case .sha256: CE_HASH_SHA256
            case .sha512Over256: CE_HASH_SHA512_256
            }
        var hash = [UInt8](repeating: 0, count: Int(CE_HASH_SIZE))
        var size = 0
        guard ce_hash(number, bytes, bytes.count, &hash, &size) else { return nil }
        return Array(hash.prefix(size))
    }
}
