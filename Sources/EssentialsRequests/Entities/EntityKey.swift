import EssentialsStorage

/// What an entity is stored under. All parts are compared.
///
/// ```swift
/// let key = EntityKey(url: "https://api.example.com/v1/users/7", stage: "decoding", partition: "account-7")
/// ```
///
/// The service makes the keys. A cache uses ``bytes`` or the whole value as the name of an entry; a hash of them is a
/// name too if the cache also compares the key itself.
public struct EntityKey: Sendable, Hashable {
    /// The version of the format of keys and entities. Another format gives other keys.
    public static let format: UInt8 = 1
    /// The type of an entity that consists of bytes.
    public static let bytesType = "bytes"

    /// The account.
    public var partition: EntityPartition
    /// The name of the environment. Its base URL is part of ``url``.
    public var environment: String
    /// The fingerprint of the trust policy, so that no content is used under a policy that might have refused it.
    public var trust: String
    /// The canonical URL.
    public var url: String
    /// The header fields that select the representation, in a canonical form; empty if there are none.
    public var variant: String
    /// What the bytes are: for a resource, the name of the stage of its pipeline after which they were stored, such as `decoding`.
    public var stage: String
    /// The name of the type that the entity is read as.
    public var type: String
    /// The version of that type's encoding, which the application counts.
    public var schema: UInt32

    /// Creates a key.
    public init(
        url: String, variant: String = "", stage: String, type: String = Self.bytesType, schema: UInt32 = 0,
        partition: EntityPartition = .shared, environment: String = "", trust: String = ""
    ) {
        self.partition = partition
        self.environment = environment
        self.trust = trust
        self.url = url
        self.variant = variant
        self.stage = stage
        self.type = type
        self.schema = schema
    }

    /// The scheme, host and port of ``url``, such as `https://api.example.com`.
    public var origin: Substring {
        var slashes = 0
        let end = url.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3
        }
        return url[..<(end ?? url.endIndex)]
    }

    /// The key as bytes. Different keys give different bytes, because each part is preceded by its length.
    public var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(Self.format)
        for part in [partition.name, environment, trust, url, variant, stage, type] { writer.append(text: part) }
        writer.append(schema)
        return writer.bytes
    }
}

extension EntityKey: CustomStringConvertible {
    /// The URL without its query and the stage, for logs.
    public var description: String {
        "\(String(Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") }))) after \(stage)"
    }
}

/// How fetched models are distinguished from the entities of resources in a cache that both use.
extension EntityKey {
    /// The origin of all models. No URL of a resource has this scheme, so a cache finds its models by their origin.
    package static let modelOrigin = "model://"

    /// Whether a model is stored under the key, and no entity of a resource.
    package var isModel: Bool { url.hasPrefix(Self.modelOrigin) }
}
