internal import EssentialsLocator

/// Benchmarks for services that the locator does not retain: transient and weak ones.
enum OtherKinds {
    static let all = [
        transient("transient, without dependencies"),
        Benchmark(name: "transient, with a strong dependency", floor: Floors.object, operations: 50_000) { operations in
            let locator = ServiceLocator(name: "bench")
            try locator.register(PlainService(number: 1), as: PlainService.self)
            try locator.registerTransient((any MeasuredService).self) { locator in
                PlainService(number: try locator.resolve(PlainService.self).number)
            }
            return { try Resolving.resolve(from: locator, times: operations) }
        },
        Benchmark(name: "transient, with an argument", floor: Floors.object, operations: 50_000) { operations in
            let locator = ServiceLocator(name: "bench")
            try locator.registerTransient((any MeasuredService).self) { (_: ServiceLocator, number: Int) in
                PlainService(number: number)
            }
            return { try resolve(from: locator, argumentsTo: operations) }
        },
        Benchmark(name: "weak", floor: Floors.weakRead, goal: .timesFloor(1.6)) { operations in
            let object = PlainService()
            let locator = ServiceLocator(name: "bench")
            try locator.registerWeak(object, as: (any MeasuredService).self) { $0 }
            return { try withExtendedLifetime(object) { try Resolving.resolve(from: locator, times: operations) } }
        },
        Benchmark(name: "weak, as its own class", floor: Floors.weakRead, goal: .timesFloor(1.6)) { operations in
            let object = PlainService()
            let locator = ServiceLocator(name: "bench")
            try locator.registerWeak(object)
            return { try withExtendedLifetime(object) { try resolveObject(from: locator, times: operations) } }
        },
    ]

    @inline(never)
    private static func resolve(from locator: ServiceLocator, argumentsTo count: Int) throws {
        for number in 0..<count {
            consume(try locator.resolve((any MeasuredService).self, arguments: number))
        }
    }

    private static func transient(_ name: String) -> Benchmark {
        let (goal, peer) = Peer.goal(80, where: 1_145, for: name)
        return Benchmark(name: name, floor: peer ?? Floors.object, goal: goal, operations: 50_000) { operations in
            let locator = ServiceLocator(name: "bench")
            try locator.registerTransient((any MeasuredService).self) { _ in PlainService() }
            return { try Resolving.resolve(from: locator, times: operations) }
        }
    }

    @inline(never)
    private static func resolveObject(from locator: ServiceLocator, times: Int) throws {
        for _ in 0..<times {
            consume(try locator.resolve(PlainService.self) as AnyObject)
        }
    }
}
