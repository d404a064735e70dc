#if LOCATOR_PEERS
    internal import Figures
    internal import Swinject
#endif

/// Swinject, the most used locator for Swift, measured in the same rounds if it is built. Its services are in the scope
/// "container", without its optional lock.
enum Peer {
    /// A goal in nanoseconds from a machine on which the peer took `peer` nanoseconds for the same operation. If the
    /// peer is measured here, the goal is the ratio of both, and the peer's benchmark replaces the floor. The goal is
    /// then independent of the speed of this machine's memory and allocator.
    static func goal(
        _ nanoseconds: Double, where peer: Double, for name: String
    ) -> (goal: Benchmark.Goal, floor: String?) {
        #if LOCATOR_PEERS
            (.timesPeer(nanoseconds / peer), "Swinject: \(name)")
        #else
            (.nanoseconds(nanoseconds), nil)
        #endif
    }

    /// The ratio of the peer's time for one level of parents here and on the goals' machine; `nil` if the peer
    /// is not measured. The goals' machine took 2,241 ns through four levels and 883 ns through none, which
    /// makes 340 ns for one level.
    static func slowdownOfLevels(_ samples: Samples) -> Double? {
        #if LOCATOR_PEERS
            samples.median(of: "Swinject: strong, through 4 parents, empty", and: "Swinject: strong") {
                ($0 - $1) / 4 / 340
            }
        #else
            nil
        #endif
    }

    #if LOCATOR_PEERS
        private static let count = 1_000

        static let all = [
            Benchmark(name: "Swinject: strong", floor: Floors.copy, operations: 20_000) { operations in
                let container = container()
                return { try resolve(from: container, times: operations) }
            },
            Benchmark(name: "Swinject: strong, through 4 parents, empty", floor: Floors.copy, operations: 20_000) {
                operations in
                let lowest = (0..<4).reduce(container()) { parent, _ in Container(parent: parent) }
                return { try resolve(from: lowest, times: operations) }
            },
            Benchmark(name: "Swinject: transient, without dependencies", floor: Floors.object, operations: 20_000) {
                operations in
                let container = container(.transient)
                return { try resolve(from: container, times: operations) }
            },
            Benchmark(name: "Swinject: weak", floor: Floors.weakRead, operations: 20_000) { operations in
                let container = container(.weak)
                let service = try Self.service(of: container)
                return { try withExtendedLifetime(service) { try resolve(from: container, times: operations) } }
            },
            Benchmark(name: "Swinject: register, \(count) types in a locator", operations: count, batches: 4) {
                operations in
                let services = ColdServices.all.prefix(operations).map { $0.init() }
                let container = Container()
                return { for service in services { service.register(in: container) } }
            },
            Benchmark(name: "Swinject: register, \(count) names in a locator", operations: count, batches: 4) {
                operations in
                let names = (0..<operations).map { "service \($0)" }
                let services = (0..<operations).map { PlainService(number: $0) }
                let container = Container()
                return { for (name, service) in zip(names, services) { register(service, in: container, named: name) } }
            },
            Benchmark(name: "Swinject: register, one type in \(count) locators", operations: count, batches: 4) {
                operations in
                let containers = (0..<operations).map { _ in Container() }
                let services = (0..<operations).map { PlainService(number: $0) }
                return { for (container, service) in zip(containers, services) { register(service, in: container) } }
            },
            Benchmark(name: "Swinject: first resolve, \(count) types in a locator", operations: count, batches: 4) {
                operations in
                let types = Array(ColdServices.all.prefix(operations))
                let container = Container()
                for type in types { type.registerLazy(in: container) }
                return { for type in types { try type.resolve(from: container) } }
            },
            Benchmark(name: "Swinject: first resolve, \(count) names in a locator", operations: count, batches: 4) {
                operations in
                let names = (0..<operations).map { "service \($0)" }
                let container = Container()
                for name in names {
                    container.register((any MeasuredService).self, name: name) { _ in PlainService() }
                        .inObjectScope(.container)
                }
                return { for name in names { consume(try service(of: container, named: name)) } }
            },
            Benchmark(name: "Swinject: first resolve, one type in \(count) locators", operations: count, batches: 4) {
                operations in
                let containers = (0..<operations).map { _ in container() }
                return { for container in containers { consume(try service(of: container)) } }
            },
        ]

        private static func container(_ scope: ObjectScope = .container) -> Container {
            let container = Container()
            container.register((any MeasuredService).self) { _ in PlainService() }.inObjectScope(scope)
            return container
        }

        private static func register(_ service: PlainService, in container: Container, named name: String? = nil) {
            container.register((any MeasuredService).self, name: name) { _ in service }.inObjectScope(.container)
        }

        private static func service(of container: Container, named name: String? = nil) throws -> any MeasuredService {
            guard let service = container.resolve((any MeasuredService).self, name: name) else {
                throw BenchmarkError("Swinject has no service")
            }
            return service
        }

        @inline(never)
        private static func resolve(from container: Container, times: Int) throws {
            for _ in 0..<times { consume(try service(of: container)) }
        }
    #else
        static let all: [Benchmark] = []
    #endif
}

#if LOCATOR_PEERS
    extension ColdService {
        func register(in container: Container) {
            container.register(Self.self) { _ in self }.inObjectScope(.container)
        }

        static func registerLazy(in container: Container) {
            container.register(Self.self) { _ in Self() }.inObjectScope(.container)
        }

        static func resolve(from container: Container) throws {
            guard let service = container.resolve(Self.self) else { throw BenchmarkError("Swinject has no service") }
            consume(service as AnyObject)
        }
    }
#endif
