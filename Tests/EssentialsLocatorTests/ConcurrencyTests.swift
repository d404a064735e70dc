import EssentialsLocator
import Testing

@Suite("Locators under several threads")
struct ConcurrencyTests {
    let locator = ServiceLocator(name: "app")

    @Test("Threads that resolve a lazy service first at the same time share one construction and one instance")
    func oneConstruction() throws {
        for round in 0..<50 {
            let builds = Counter()
            let services = Recorder<any Greeter>()
            try locator.registerLazy((any Greeter).self, named: "\(round)") { _ in
                builds.increment()
                return PoliteGreeter()
            }
            Workers.run(8) { [locator] _ in
                services.append(locator.require((any Greeter).self, named: "\(round)"))
            }
            #expect(builds.value == 1)
            #expect(services.all.count == 8)
            #expect(Set(services.all.map { ObjectIdentifier($0) }).count == 1)
        }
    }

    @Test("Other threads can register and resolve while a factory runs")
    func tableIsFree() throws {
        let inside = Counter()
        let release = Counter()
        try locator.register(1, as: Int.self)
        try locator.registerLazy((any Greeter).self) { _ in
            inside.increment()
            spin { release.value > 0 }
            return PoliteGreeter()
        }
        let workers = Workers()
        workers.start { [locator] in _ = locator.require((any Greeter).self) }
        spin { inside.value > 0 }
        #expect(try locator.resolve(Int.self) == 1)
        try locator.register(2, as: Int.self, named: "two")
        try locator.registerLazy(Int.self, named: "three") { locator in
            try locator.resolve(Int.self) + locator.resolve(Int.self, named: "two")
        }
        #expect(try locator.resolve(Int.self, named: "three") == 3)
        release.increment()
        workers.join()
    }

    @Test(
        "A registration that is replaced or removed while it is built gives its instance only to the builder"
    )
    func replacedWhileBuilding() throws {
        let inside = Counter()
        let release = Counter()
        let built = Recorder<String>()
        try locator.registerLazy((any Greeter).self) { _ in
            inside.increment()
            spin { release.value > 0 }
            return PoliteGreeter("old")
        }
        let workers = Workers()
        workers.start { [locator] in built.append(locator.require((any Greeter).self).greeting) }
        spin { inside.value > 0 }
        #expect(try locator.replace(PoliteGreeter("new"), as: (any Greeter).self) == nil)
        #expect(try locator.resolve((any Greeter).self).greeting == "new")
        locator.unregister((any Greeter).self)
        #expect(try locator.resolveOptional((any Greeter).self) == nil)
        try locator.register(PoliteGreeter("newest"), as: (any Greeter).self)
        release.increment()
        workers.join()
        #expect(built.all == ["old"])
        #expect(inside.value == 1)
        #expect(try locator.resolve((any Greeter).self).greeting == "newest")
    }

    @Test("A cycle of two threads fails both instead of blocking them, and its path names both services")
    func crossThreadCycle() throws {
        for round in 0..<20 {
            let inside = Counter()
            let errors = Recorder<ServiceLocatorError?>()
            for (own, other) in [("a", "b"), ("b", "a")] {
                try locator.registerLazy(Int.self, named: "\(own)\(round)") { locator in
                    // Both factories run before either resolves the other's service.
                    inside.increment()
                    spin { inside.value >= 2 }
                    return try locator.resolve(Int.self, named: "\(other)\(round)")
                }
            }
            Workers.run(2) { [locator] index in
                errors.append(
                    failure { () throws(ServiceLocatorError) in
                        try locator.resolve(Int.self, named: "\(index == 0 ? "a" : "b")\(round)")
                    })
            }
            let labels = ["a", "b"].map { "Swift.Int named \"\($0)\(round)\" in \"app\"" }
            #expect(errors.all.map { $0?.reason } == [.cycle, .cycle])
            for error in errors.all {
                #expect(error?.path.first == error?.path.last)
                #expect(Set(error?.path ?? []) == Set(labels))
                #expect(error?.path.count == 3)
            }
        }
    }

    @Test("Every thread that joined a failed attempt gets its error, and a later resolve builds the service")
    func failureIsShared() throws {
        let builds = Counter()
        let errors = Recorder<ServiceLocatorError>()
        let mayBuild = Counter()
        try locator.registerLazy((any Greeter).self) { _ in
            builds.increment()
            if mayBuild.value == 0 { throw FactoryFailure() }
            return PoliteGreeter()
        }
        Workers.run(6) { [locator] _ in
            if let error = failure(of: { () throws(ServiceLocatorError) in try locator.resolve((any Greeter).self) }) {
                errors.append(error)
            }
        }
        #expect(errors.all.count == 6)
        #expect(errors.all.allSatisfy { $0.reason == .constructionFailed && $0.underlying is FactoryFailure })
        let failed = builds.value
        #expect((1...6).contains(failed))
        mayBuild.increment()
        #expect(try locator.resolve((any Greeter).self).greeting == "Good day")
        #expect(builds.value == failed + 1)
    }

    @Test("A thread that waits for an attempt that fails gets its error and does not build")
    func waitersShareTheFailure() throws {
        for round in 0..<20 {
            let builds = Counter()
            let errors = Recorder<ServiceLocatorError>()
            try locator.registerLazy((any Greeter).self, named: "\(round)") { locator in
                let attempt = builds.increment()
                // The first attempt ends only once the other thread waits for it.
                spin { attempt > 1 || locator.isWaitedFor((any Greeter).self, named: "\(round)") }
                throw FactoryFailure("attempt \(attempt)")
            }
            Workers.run(2) { [locator] _ in
                let error = failure { () throws(ServiceLocatorError) in
                    try locator.resolve((any Greeter).self, named: "\(round)")
                }
                if let error { errors.append(error) }
            }
            #expect(errors.all.map { ($0.underlying as? FactoryFailure)?.description } == ["attempt 1", "attempt 1"])
            #expect(builds.value == 1)
        }
    }

    @Test("One of several threads that register the same type at once succeeds")
    func registrationRace() {
        let wins = Counter()
        let duplicates = Counter()
        Workers.run(8) { [locator] index in
            switch failure(of: { () throws(ServiceLocatorError) in try locator.register(index, as: Int.self) })?.reason
            {
            case nil: wins.increment()
            case .duplicate?: duplicates.increment()
            default: break
            }
        }
        #expect(wins.value == 1)
        #expect(duplicates.value == 7)
    }

    @Test("Readers always find a registration that writers replace while the table grows")
    func readersAndWriters() throws {
        let locator = locator
        try locator.register(PoliteGreeter("0"), as: (any Greeter).self)
        try locator.register(FixedClock(), as: (any Clock).self, named: "wall")
        let wrong = Counter()
        Workers.run(4) { index in
            for round in 0..<500 {
                switch index {
                case 0:
                    _ = try? locator.replace(PoliteGreeter("\(round)"), as: (any Greeter).self)
                case 1:
                    _ = try? locator.register(round, as: Int.self, named: "\(round)")
                    if (try? locator.resolve(Int.self, named: "\(round)")) != round { wrong.increment() }
                    if round % 2 == 0 { locator.unregister(Int.self, named: "\(round)") }
                default:
                    if (try? locator.resolve((any Greeter).self)) == nil { wrong.increment() }
                    if (try? locator.resolve((any Clock).self, named: "wall")) == nil { wrong.increment() }
                }
            }
        }
        #expect(wrong.value == 0)
    }

    @Test("Threads always find a lazy registration that is being replaced")
    func lazyReplacement() throws {
        let locator = locator
        try locator.registerLazy((any Greeter).self) { _ in PoliteGreeter() }
        let wrong = Counter()
        Workers.run(4) { index in
            for _ in 0..<300 {
                if index == 0 {
                    _ = try? locator.replaceLazy((any Greeter).self) { _ in PoliteGreeter() }
                } else if (try? locator.resolve((any Greeter).self)) == nil {
                    wrong.increment()
                }
            }
        }
        #expect(wrong.value == 0)
    }
}
