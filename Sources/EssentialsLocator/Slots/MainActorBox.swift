/// A service for the main actor, which need not be `Sendable`.
///
/// Registrations for the main actor are kept under the key of this type, so they have keys of their own and take the
/// same way as all others.
///
/// `@unchecked Sendable`: the value goes in and out only in functions that run on the main actor. It may be released on
/// any thread, as every object of a main-actor class may.
struct MainActorBox<Value>: @unchecked Sendable {
    let value: Value
}

/// What is known of a box whatever it holds.
protocol MainActorBoxing {
    static var boxedTypeName: String { get }
    var boxed: Any { get }
}

extension MainActorBox: MainActorBoxing {
    static var boxedTypeName: String { String(reflecting: Value.self) }
    var boxed: Any { value }
}
