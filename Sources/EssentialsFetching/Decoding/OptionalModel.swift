import EssentialsRequests

/// A model that can be `nil`, whose type is known only at run time.
protocol OptionalModel {
    static var nothing: Any { get }
    var isNothing: Bool { get }
}

extension Optional: OptionalModel {
    static var nothing: Any { Self.none as Any }
    var isNothing: Bool { self == nil }
}
