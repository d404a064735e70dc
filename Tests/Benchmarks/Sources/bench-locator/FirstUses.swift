internal import EssentialsLocator

/// Measures the operations that happen once for a registration: creating it and building its service.
///
/// Each method of creating many registrations adds a cost of its own: a new locator creates its table, a growing table
/// is copied, or a name is hashed and compared. So there are three benchmarks.
enum FirstUses {
    private static let count = 1_000

    private static func benchmark(
        _ name: String, _ prepare: @escaping @Sendable (_ operations: Int) throws -> () throws -> Void
    ) -> Benchmark {
        let isFirst = name.hasPrefix("first")
        let (goal, peer) = Peer.goal(400, where: isFirst ? 1_684 : 655, for: name)
        return Benchmark(name: name, floor: peer, goal: goal, operations: count, batches: 4, prepare: prepare)
    }

    static let all = [
        benchmark("register, \(count) types in a locator") { operations in
            // Plain classes, because looking up the metadata of a generic type takes longer than registering.
            let types = Array(ColdServices.all.prefix(operations))
            let services = types.map { $0.init() }
            let locator = ServiceLocator(name: "bench")
            return {
                for service in services { try service.register(in: locator) }
            }
        },
        benchmark("register, \(count) names in a locator") { operations in
            let names = (0..<operations).map { "service \($0)" }
            let services = (0..<operations).map { PlainService(number: $0) }
            let locator = ServiceLocator(name: "bench")
            return {
                for (name, service) in zip(names, services) {
                    try locator.register(service, as: (any MeasuredService).self, named: name)
                }
            }
        },
        benchmark("register, one type in \(count) locators") { operations in
            let locators = (0..<operations).map { _ in ServiceLocator(name: "bench") }
            let services = (0..<operations).map { PlainService(number: $0) }
            return {
                for (locator, service) in zip(locators, services) {
                    try locator.register(service, as: (any MeasuredService).self)
                }
            }
        },
        benchmark("first resolve, \(count) types in a locator") { operations in
            let types = Array(ColdServices.all.prefix(operations))
            let locator = ServiceLocator(name: "bench")
            for type in types { try type.registerLazy(in: locator) }
            return { for type in types { try type.resolve(from: locator) } }
        },
        benchmark("first resolve, \(count) names in a locator") { operations in
            let names = (0..<operations).map { "service \($0)" }
            let locator = ServiceLocator(name: "bench")
            for name in names {
                try locator.registerLazy((any MeasuredService).self, named: name) { _ in PlainService() }
            }
            return {
                for name in names { consume(try locator.resolve((any MeasuredService).self, named: name)) }
            }
        },
        benchmark("first resolve, one type in \(count) locators") { operations in
            let locators = (0..<operations).map { _ in ServiceLocator(name: "bench") }
            for locator in locators {
                try locator.registerLazy((any MeasuredService).self) { _ in PlainService() }
            }
            return {
                for locator in locators { consume(try locator.resolve((any MeasuredService).self)) }
            }
        },
    ]
}
