import CEssentials
public import EssentialsTransport

extension DigestHash {
    /// Hashes by OpenSSL. Where that is set up without MD5, challenges for MD5 are not answered.
    public static let openSSL = DigestHash { function, bytes in
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
