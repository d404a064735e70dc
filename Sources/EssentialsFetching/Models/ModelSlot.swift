import EssentialsHTTP
import EssentialsRequests

/// The key of a model in memory: the parts of its ``ModelKey``, with the type itself in place of the type's name.
struct ModelSlot: Hashable, Sendable {
    let name: String
    let variant: String
    let partition: EntityPartition
    let environment: String
    let schema: UInt32
    let type: ObjectIdentifier

    init<Value>(_ key: ModelKey<Value>) {
        (name, variant, partition) = (key.name, key.variant, key.partition)
        (environment, schema, type) = (key.environment, key.schema, ObjectIdentifier(Value.self))
    }

    /// The approximate size in memory.
    var byteCount: Int {
        name.utf8.count + variant.utf8.count + partition.name.utf8.count + environment.utf8.count + 256
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
