import EssentialsHTTP
import EssentialsStorage
import EssentialsTools

/// Where an operation runs: an environment at one moment, with all that tells it apart from others in the keys of stores.
///
/// Two environments that differ in one header field, in their trust policy, name or base URL have different identities,
/// because a server may respond differently to each of them. It is an object that is made once for each snapshot, so that
/// an operation copies one reference.
package final class EnvironmentIdentity: Sendable {
    package let versioned: VersionedSnapshot
    /// The fingerprint of the environment's trust policy; empty if it has none.
    package let trustFingerprint: String
    /// The header fields in one form; empty without header fields.
    private let fields: [UInt8]
    /// The hashes of the fields by the keys of the stores that have asked for them.
    private let hashes = Mutex<[FingerprintKey: String]>([:])

    /// More stores than any application has. Beyond it hashes are computed again.
    private static let maximumHashes = 64

    /// The environment of now.
    package convenience init(of environment: any EnvironmentService) {
        self.init(VersionedSnapshot(of: environment))
    }

    package init(_ versioned: VersionedSnapshot) {
        self.versioned = versioned
        trustFingerprint = versioned.snapshot.trust.map { TrustFingerprint.text(of: $0) } ?? ""
        fields = Self.canonical(versioned.snapshot.headerFields)
    }

    package var snapshot: EnvironmentSnapshot { versioned.snapshot }

    /// Whether the environment has header fields, so that ``text(_:key:)`` needs the key of a store.
    package var hasHeaderFields: Bool { !fields.isEmpty }

    /// Whether both are the same environment to every store: name, base URL, header fields and trust policy are equal.
    package func isSame(as other: EnvironmentIdentity) -> Bool {
        if self === other { return true }
        return snapshot.name == other.snapshot.name && snapshot.baseURL == other.snapshot.baseURL
            && fields == other.fields && trustFingerprint == other.trustFingerprint
    }

    /// The text by which a store tells the environment apart from others.
    ///
    /// Without header fields it is the given name. With header fields a hash of them follows, which only the store with
    /// the key can compute. Different names and fields give different texts.
    ///
    /// - Parameters:
    ///   - name: The name of the environment, or another text by which the store knows it.
    ///   - key: The key of the store. It is read only if there are header fields.
    package func text(_ name: String, key: @autoclosure () -> FingerprintKey) -> String {
        guard hasHeaderFields || name.utf8.contains(1) else { return name }
        // The number of bytes shows where the name ends, whatever it contains.
        return "\u{1}\(name.utf8.count)\u{1}\(name)\(hasHeaderFields ? fingerprint(key()) : "")"
    }

    /// The hash of the header fields under the key of a store, as 32 hexadecimal digits; empty without header fields.
    package func fingerprint(_ key: FingerprintKey) -> String {
        guard hasHeaderFields else { return "" }
        if let known = hashes.withLock({ $0[key] }) { return known }
        let hash = StableHash.hexadecimal(key.hash(of: fields))
        hashes.withLock { hashes in
            if hashes.count >= Self.maximumHashes { hashes = [:] }
            hashes[key] = hash
        }
        return hash
    }

    /// The names in lower case and in order, each value with its length. Fields of one name keep their order.
    private static func canonical(_ fields: HTTPFields) -> [UInt8] {
        guard !fields.isEmpty else { return [] }
        let sorted = fields.enumerated().sorted { one, other in
            (one.element.name.canonicalName, one.offset) < (other.element.name.canonicalName, other.offset)
        }
        var writer = ByteWriter()
        for (_, field) in sorted {
            writer.append(text: field.name.canonicalName)
            field.withUnsafeBytesOfValue { writer.append(counted: UnsafeRawBufferPointer($0)) }
        }
        return writer.bytes
    }
}
