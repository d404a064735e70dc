/// Optionals of all types, for values whose type is known only at run time.
package protocol AnyOptional {
    /// The type of the value that is not `nil`.
    static var wrapped: Any.Type { get }
    /// The `nil` of the type.
    static var nothing: Any { get }
    var isNothing: Bool { get }
}

extension Optional: AnyOptional {
    package static var wrapped: Any.Type { Wrapped.self }
    package static var nothing: Any { Self.none as Any }
    package var isNothing: Bool { self == nil }
}
