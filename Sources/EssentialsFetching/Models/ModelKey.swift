import EssentialsHTTP
public import EssentialsRequests

/// The key under which a model is stored, with the type as which it is read. All parts are compared.
///
/// ```swift
/// let key = ModelKey<[Coin]>("coins")
/// let mine = ModelKey<[Coin]>("coins", partition: "account-7", schema: 2)
/// ```
///
/// Two types, two accounts or two versions of a type never share a model, even under one name.
public struct ModelKey<Value: Codable & Sendable>: Sendable, Hashable {
    /// The name, usually the request in a canonical form.
    public var name: String {
        get { parts.name }
        set { parts.name = newValue }
    }
    /// A text that selects one of several representations; empty if there is only one.
    public var variant: String {
        get { parts.variant }
        set { parts.variant = newValue }
    }
    /// The account.
    public var partition: EntityPartition {
        get { parts.partition }
        set { (parts.partition, parts.followsService) = (newValue, false) }
    }
    /// The environment: its name, or a text that also distinguishes its header fields and its trust policy; empty if
    /// there is only one.
    public var environment: String {
        get { parts.environment }
        set { (parts.environment, parts.followsService) = (newValue, false) }
    }
    /// The version of the type's encoding. Increase it when old models cannot be read any more.
    public var schema: UInt32 {
        get { parts.schema }
        set { (parts.schema, parts.followsService) = (newValue, false) }
    }
    /// All parts except the type.
    private(set) var parts: FetchKey

    /// Creates a key.
    public init(
        _ name: String, variant: String = "", partition: EntityPartition = .shared, environment: String = "",
        schema: UInt32 = 0
    ) {
        parts = FetchKey(
            name: name, variant: variant, partition: partition, environment: environment, schema: schema)
    }

    /// Creates a key from its parts.
    init(_ parts: FetchKey) { self.parts = parts }

    /// The name of the type, which is the same in each start of one binary.
    ///
    /// In the name of a private or local type, the build identifier of the program or library stands for the context of
    /// the type, so another build does not find its models.
    public var type: String { TypeName(Value.self).text }
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

/// The parts of a ``ModelKey`` without its type.
struct FetchKey: Sendable {
    var name: String
    var variant: String
    var partition: EntityPartition
    var environment: String
    var schema: UInt32
    /// Whether a service has made the key. Its fetches then replace the partition, environment and schema by those of
    /// each operation.
    var followsService = false
}

extension FetchKey: Hashable {
    /// Compares all public parts of a key.
    static func == (one: FetchKey, other: FetchKey) -> Bool {
        one.name == other.name && one.variant == other.variant && one.partition == other.partition
            && one.environment == other.environment && one.schema == other.schema
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(variant)
        hasher.combine(partition)
        hasher.combine(environment)
        hasher.combine(schema)
    }
}

/// The key of a model in memory: the parts of its ``ModelKey``, with the type itself in place of the type's name.
struct ModelSlot: Hashable, Sendable {
    let key: FetchKey
    let type: ObjectIdentifier

    init<Value>(_ key: ModelKey<Value>) { (self.key, type) = (key.parts, ObjectIdentifier(Value.self)) }

    var partition: EntityPartition { key.partition }

    /// The approximate size in memory.
    var byteCount: Int {
        key.name.utf8.count + key.variant.utf8.count + partition.name.utf8.count + key.environment.utf8.count + 256
    }
}

extension EntityKey {
    /// Creates the key under which a model is stored.
    init<Value>(_ key: ModelKey<Value>) {
        self.init(
            url: Self.modelOrigin + "/" + key.name, variant: key.variant, stage: "fetched model", type: key.type,
            schema: key.schema, partition: key.partition, environment: key.environment)
    }

    /// The key of the model that was received with the credentials of an origin and without an account.
    func ofCredentials(_ origin: Origin) -> EntityKey {
        var key = self
        key.partition = .credentials(of: origin)
        return key
    }
}
