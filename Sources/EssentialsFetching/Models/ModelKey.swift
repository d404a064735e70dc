public import EssentialsRequests

/// The key under which a model is stored, with the type as which it is read. All parts are compared.
///
/// ```swift
/// let key = ModelKey<[Coin]>("coins")
/// let mine = ModelKey<[Coin]>("coins", partition: "account-7", schema: 2)
/// ```
///
/// Two types, two accounts or two versions of a type never share a model, even under one name.
public struct ModelKey<Value: Codable & Sendable>: Sendable {
    /// The name, usually the request in a canonical form.
    public var name: String
    /// A text that selects one of several representations; empty if there is only one.
    public var variant: String
    /// The account.
    public var partition: EntityPartition { didSet { followsService = false } }
    /// The environment: its name, or a text that also distinguishes its header fields and its trust policy; empty if
    /// there is only one.
    public var environment: String { didSet { followsService = false } }
    /// The version of the type's encoding. Increase it when old models cannot be read any more.
    public var schema: UInt32 { didSet { followsService = false } }
    /// Whether a service has made the key. Its fetches then replace the partition, environment and schema by those of
    /// each operation.
    var followsService = false

    /// Creates a key.
    public init(
        _ name: String, variant: String = "", partition: EntityPartition = .shared, environment: String = "",
        schema: UInt32 = 0
    ) {
        self.name = name
        self.variant = variant
        self.partition = partition
        self.environment = environment
        self.schema = schema
    }

    /// The name of the type, which is the same in each start of one binary.
    ///
    /// In the name of a private or local type, the build identifier of the program or library stands for the context of
    /// the type, so another build does not find its models.
    public var type: String { TypeName(Value.self).text }
}

extension ModelKey: Hashable {
    /// Compares all public parts.
    public static func == (one: ModelKey, other: ModelKey) -> Bool {
        one.name == other.name && one.variant == other.variant && one.partition == other.partition
            && one.environment == other.environment && one.schema == other.schema
    }

    /// Hashes all public parts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(variant)
        hasher.combine(partition)
        hasher.combine(environment)
        hasher.combine(schema)
    }
}

extension ModelKey: CustomReflectable {
    /// The public parts, which also make up the text of a key.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name, "variant": variant, "partition": partition, "environment": environment, "schema": schema,
            ], displayStyle: .struct)
    }
}
