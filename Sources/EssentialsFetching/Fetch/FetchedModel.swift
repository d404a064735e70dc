import EssentialsRequests

/// A model whose type is known only to the fetch and its reader.
///
/// The code between them has no type parameter, because generic code of a library looks types up at run time, at each
/// call of a function. This would take a third of the time of a fetch.
typealias FetchedModel = any AnyObject & Sendable

/// The object that holds a model.
final class ModelBox<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

/// A value of a fetch, as an ``Emission`` without the type of its model.
struct FetchEmission: Sendable {
    let model: FetchedModel
    let isCached: Bool
    let age: Duration?
    var failure: RequestFailure?
    /// The operation that fetched it; `nil` for a test double.
    var operation: FetchOperation?
    /// Whether it may have been received with credentials.
    var mayBePersonal = true

    /// Whether it may be shared with an operation that did not fetch it.
    func isFor(_ reader: FetchOperation?) -> Bool {
        operation?.isOpen(to: reader, mayBePersonal: mayBePersonal) ?? true
    }
}

extension Emission {
    /// Returns `nil` if the model has another type, which no source of these emissions has.
    init?(_ emission: FetchEmission) {
        guard let box = emission.model as? ModelBox<Value> else { return nil }
        self.init(
            box.value, from: emission.isCached ? .cache : .backend, age: emission.age, failure: emission.failure)
    }

    /// The emission without the type of its model.
    var erased: FetchEmission {
        FetchEmission(model: ModelBox(value), isCached: source == .cache, age: age, failure: failure)
    }
}
