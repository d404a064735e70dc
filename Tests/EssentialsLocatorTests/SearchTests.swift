import EssentialsLocator
import Testing

/// A distinct type for each pair, which holds a number.
private struct Paired<A: Sendable, B: Sendable>: Tagged {
    let number: Int
}

private protocol Tagged: Sendable {
    init(number: Int)
    var number: Int { get }
}

extension Tagged {
    static func replace(_ number: Int, in locator: ServiceLocator) throws {
        _ = try locator.replace(Self(number: number), as: Self.self)
    }

    static func registerLazy(_ number: Int, in locator: ServiceLocator) throws {
        locator.unregister(Self.self)
        try locator.registerLazy(Self.self) { _ in Self(number: number) }
    }

    static func registerTransient(_ number: Int, in locator: ServiceLocator) throws {
        locator.unregister(Self.self)
        try locator.registerTransient(Self.self) { _ in Self(number: number) }
    }

    static func unregister(in locator: ServiceLocator) { locator.unregister(Self.self) }

    static func resolve(from locator: ServiceLocator) throws -> Int? {
        try locator.resolveOptional(Self.self)?.number
    }
}

@Suite("Searching without a lock", .timeLimit(.minutes(5)))
struct SearchTests {
    private static let tags: [any Sendable.Type] = [
        Int.self, UInt.self, Int8.self, UInt8.self, Int16.self, UInt16.self, Int32.self, UInt32.self,
    ]

    /// Enough types to make the cells of a small table collide.
    private static let types: [any Tagged.Type] = tags.flatMap { first in
        tags.map { second in
            func pair<A: Sendable, B: Sendable>(_: A.Type, _: B.Type) -> any Tagged.Type { Paired<A, B>.self }
            return pair(first, second)
        }
    }

    /// A model of a chain of locators, with dictionaries.
    private struct Model {
        var registered: [[Int: Int]]
        var closed: Set<Int> = []

        /// The number of a type, `nil` without a registration, or a failure if a locator is closed.
        func resolve(_ type: Int, from level: Int) -> Result<Int?, Ended> {
            for index in stride(from: level, through: 0, by: -1) {
                if closed.contains(index) { return .failure(Ended()) }
                if let number = registered[index][type] { return .success(number) }
            }
            return .success(nil)
        }
    }

    private struct Ended: Error, Equatable {}

    private func resolve(_ type: Int, from locator: ServiceLocator) -> Result<Int?, Ended> {
        do {
            return .success(try Self.types[type].resolve(from: locator))
        } catch {
            #expect((error as? ServiceLocatorError)?.reason == .closed)
            return .failure(Ended())
        }
    }

    @Test(
        "A chain of locators agrees with dictionaries over a long random sequence of changes", arguments: [1, 2, 3, 7])
    func model(depth: Int) async throws {
        var chain = [ServiceLocator(name: "0")]
        for level in 1..<(depth + 1) { chain.append(ServiceLocator(name: "\(level)", parent: chain[level - 1])) }
        var model = Model(registered: Array(repeating: [:], count: chain.count))
        var random = SystemRandomNumberGenerator()
        let steps = 6_000
        for step in 0..<steps {
            let level = Int.random(in: 0..<chain.count, using: &random)
            let type = Int.random(in: 0..<Self.types.count, using: &random)
            if step > steps / 2, Int.random(in: 0..<(steps / (2 * chain.count)), using: &random) == 0 {
                await chain[level].close()
                model.closed.insert(level)
            } else if !model.closed.contains(level), type % chain.count != level {
                // Each level never registers some types, so that their cells stay empty.
                try change(Self.types[type], step, in: chain[level], Int.random(in: 0..<5, using: &random)) { number in
                    model.registered[level][type] = number
                }
            }
            let asked = Int.random(in: 0..<chain.count, using: &random)
            #expect(resolve(type, from: chain[asked]) == model.resolve(type, from: asked))
        }
        for level in chain.indices {
            for type in Self.types.indices {
                #expect(resolve(type, from: chain[level]) == model.resolve(type, from: level))
            }
        }
    }

    private func change(
        _ type: any Tagged.Type, _ number: Int, in locator: ServiceLocator, _ choice: Int, _ note: (Int?) -> Void
    ) throws {
        switch choice {
        case 0: type.unregister(in: locator)
        case 1: try type.registerLazy(number, in: locator)
        case 2: try type.registerTransient(number, in: locator)
        default: try type.replace(number, in: locator)
        }
        note(choice == 0 ? nil : number)
    }

    @Test(
        "A search ends at a closed locator between child and root, with and without other registrations",
        arguments: [true, false])
    func closedOnTheWay(hasOthers: Bool) async throws {
        let root = ServiceLocator(name: "root")
        let middle = ServiceLocator(name: "middle", parent: root)
        let lowest = ServiceLocator(name: "lowest", parent: ServiceLocator(name: "low", parent: middle))
        try root.register(1, as: Int.self)
        if hasOthers { try middle.register("other", as: String.self) }
        #expect(try lowest.resolve(Int.self) == 1)
        await middle.close()
        #expect(thrown { try lowest.resolve(Int.self) }?.message == "The locator \"middle\" is closed.")
        #expect(try root.resolve(Int.self) == 1)
    }

    @Test(
        "A search ends at a closed parent that never had the type, with and without other registrations",
        arguments: [true, false])
    func closedParent(hasOthers: Bool) async throws {
        let root = ServiceLocator(name: "root")
        let middle = ServiceLocator(name: "middle", parent: root)
        let lowest = ServiceLocator(name: "lowest", parent: middle)
        try root.register(1, as: Int.self)
        if hasOthers { try middle.register("other", as: String.self) }
        #expect(try lowest.resolve(Int.self) == 1)
        await middle.close()
        for locator in [middle, lowest] {
            #expect(thrown { try locator.resolve(Int.self) }?.message == "The locator \"middle\" is closed.")
            #expect(thrown { try locator.resolveOptional(Int.self) }?.reason == .closed)
        }
        #expect(try root.resolve(Int.self) == 1)
    }

    @Test("A locator below a closed one finds only its own registrations")
    func belowClosed() async throws {
        let root = ServiceLocator(name: "root")
        let middle = ServiceLocator(name: "middle", parent: root)
        try root.register(1, as: Int.self)
        await middle.close()
        let late = ServiceLocator(name: "latest", parent: ServiceLocator(name: "late", parent: middle))
        try late.register("own", as: String.self)
        #expect(try late.resolve(String.self) == "own")
        #expect(thrown { try late.resolve(Int.self) }?.message == "The locator \"middle\" is closed.")
    }

    @Test("A service that was replaced while its factory ran is not found after the factory ends")
    func replacedWhileBuilding() throws {
        let locator = ServiceLocator(name: "root")
        try locator.registerLazy(Int.self) { locator in
            _ = try locator.replace(2, as: Int.self)
            return 1
        }
        #expect(try locator.resolve(Int.self) == 1)
        #expect(try locator.resolve(Int.self) == 2)
    }
}
