internal import EssentialsLocator

/// Benchmarks for services that the locator retains: strong ones and built lazy ones.
enum Resolving {
    static let strong = "strong"

    static let all = [
        Benchmark(name: strong, floor: Floors.copy, goal: .timesFloor(1.6)) { operations in
            let locator = try locatorWithService()
            return { try resolve(from: locator, times: operations) }
        },
        throughParents(1),
        throughParents(4),
        throughParents(16),
        throughParents(16, others: 20),
        Benchmark(name: "strong, named", floor: Floors.copy) { operations in
            let locator = try locatorWithService(named: "audit")
            return { try resolve(from: locator, named: "audit", times: operations) }
        },
        Benchmark(name: "lazy, built", floor: Floors.copy, goal: .timesFloor(1.6)) { operations in
            let locator = ServiceLocator(name: "bench")
            try locator.registerLazy((any MeasuredService).self) { _ in PlainService() }
            _ = try locator.resolve((any MeasuredService).self)
            return { try resolve(from: locator, times: operations) }
        },
    ]

    /// The loop for all kinds of services that are resolved without a name, so that all are measured alike.
    @inline(never)
    static func resolve(from locator: ServiceLocator, times: Int) throws {
        for _ in 0..<times {
            consume(try locator.resolve((any MeasuredService).self))
        }
    }

    static func locatorWithService(named name: String? = nil) throws -> ServiceLocator {
        let locator = ServiceLocator(name: "bench")
        try locator.register(PlainService(), as: (any MeasuredService).self, named: name)
        return locator
    }

    /// A locator that finds the service `levels` levels above itself.
    ///
    /// - Parameter others: The number of other types that each of these locators has registered.
    private static func throughParents(_ levels: Int, others: Int = 0) -> Benchmark {
        let name = "strong, through \(levels) parent\(levels == 1 ? "" : "s")"
        return Benchmark(
            name: others == 0 ? "\(name), empty" : "\(name) with \(others) others each", floor: Floors.copy,
            goal: .perLevel(3, levels: levels, over: strong)
        ) { operations in
            let types = DistinctTypes.tagged(others)
            let service = PlainService()
            var locator = try locatorWithService()
            for type in types { try type.register(service, in: locator) }
            for _ in 0..<levels {
                locator = ServiceLocator(name: "child", parent: locator)
                for type in types { try type.register(service, in: locator) }
            }
            let lowest = locator
            return { try resolve(from: lowest, times: operations) }
        }
    }

    @inline(never)
    private static func resolve(from locator: ServiceLocator, named name: String, times: Int) throws {
        for _ in 0..<times {
            consume(try locator.resolve((any MeasuredService).self, named: name))
        }
    }
}
