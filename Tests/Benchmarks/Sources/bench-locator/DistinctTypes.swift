internal import EssentialsLocator

/// A distinct type for every three digits.
///
/// Like an existential type, it gets its metadata from the runtime at its first use, and it contains an object.
struct Tagged<A, B, C>: DistinctType {
    let service: any MeasuredService
}

/// One of many types that are registered as themselves.
protocol DistinctType: Sendable {
    init(service: any MeasuredService)

    var service: any MeasuredService { get }
}

extension DistinctType {
    static func register(_ service: any MeasuredService, in locator: ServiceLocator) throws {
        try locator.register(Self(service: service), as: Self.self)
    }

    static func registerLazy(in locator: ServiceLocator) throws {
        try locator.registerLazy(Self.self) { _ in Self(service: PlainService()) }
    }

    static func resolve(from locator: ServiceLocator) throws {
        consume(try locator.resolve(Self.self).service)
    }
}

/// Creates many types from ten digits and three places.
enum DistinctTypes {
    private enum D0 {}
    private enum D1 {}
    private enum D2 {}
    private enum D3 {}
    private enum D4 {}
    private enum D5 {}
    private enum D6 {}
    private enum D7 {}
    private enum D8 {}
    private enum D9 {}

    /// The number of types of each kind.
    static let count = 1_000

    private static let digits: [Any.Type] = [
        D0.self, D1.self, D2.self, D3.self, D4.self, D5.self, D6.self, D7.self, D8.self, D9.self,
    ]

    /// Calls the closure with all `Tagged` types. The first call makes the runtime create them.
    static func forEachTagged(_ body: (any DistinctType.Type) throws -> Void) rethrows {
        for first in digits {
            for second in digits {
                for third in digits { try body(tagged(first, second, third)) }
            }
        }
    }

    /// The first `count` `Tagged` types.
    static func tagged(_ count: Int) -> [any DistinctType.Type] {
        var types: [any DistinctType.Type] = []
        types.reserveCapacity(Self.count)
        forEachTagged { types.append($0) }
        return Array(types.prefix(count))
    }

    private static func tagged<A, B, C>(
        _: A.Type, _: B.Type, _: C.Type
    ) -> any DistinctType.Type {
        Tagged<A, B, C>.self
    }
}
