/// What a model is stored under, with the type that it is read as. All parts are compared.
///
/// ```swift
/// let key = ModelKey<[Coin]>("coins")
/// let mine = ModelKey<[Coin]>("coins", partition: "account-7", schema: 2)
/// ```
///
/// Two types, two persons or two versions of a type never share a model, even under one name.
public struct ModelKey<Value: Codable & Sendable>: Sendable, Hashable {
    /// The name, usually the request in a canonical form.
    public var name: String
    /// What selects one of several representations; empty if there is only one.
    public var variant: String
    /// The person or tenant.
    public var partition: EntityPartition
    /// The name of the environment; empty if there is only one.
    public var environment: String
    /// The version of the type's encoding, which the application counts up when old models cannot be read any more.
    public var schema: UInt32

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

    /// The name of the type.
    public var type: String { String(reflecting: Value.self) }
}
