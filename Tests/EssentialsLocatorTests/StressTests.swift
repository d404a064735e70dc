import EssentialsTools
import TestTools
import Testing

@testable import EssentialsLocator

/// Counts its instances.
private final class Counted: Greeter, Clock {
    let greeting: String
    let hour = 0
    private let deaths: Counter

    init(_ greeting: String, births: Counter, deaths: Counter) {
        self.greeting = greeting
        self.deaths = deaths
        births.increment()
    }

    deinit { deaths.increment() }
}

/// Uses its locator in `deinit`.
private final class Meddler: Greeter {
    let greeting = "meddler"
    private let reference: LocatorReference
    private let deaths: Counter

    init(_ reference: LocatorReference, deaths: Counter) {
        self.reference = reference
        self.deaths = deaths
    }

    deinit {
        deaths.increment()
        guard let locator = reference.locator else { return }
        _ = try? locator.resolve(Int.self)
        _ = try? locator.registerIfAbsent(1, as: Int.self, named: "from deinit")
        locator.unregister(Int.self, named: "from deinit")
        _ = locator.graph()
    }
}

@Suite("Locators under stress", .timeLimit(.minutes(5)))
struct StressTests {
    private let births = Counter()
    private let deaths = Counter()
    private let wrong = Counter()

    private func counted(_ greeting: String = "") -> Counted { Counted(greeting, births: births, deaths: deaths) }

    @Test("Threads that register, replace, remove and resolve every kind lose nothing and leak nothing")
    func everyKind() throws {
        do {
            let root = ServiceLocator(name: "root")
            let locator = ServiceLocator(name: "app", parent: root)
            // Always registered, in one locator or the other.
            try root.register(counted("root"), as: (any Greeter).self)
            try locator.register(counted("always"), as: (any Clock).self)
            let held = counted("held")
            Workers.run(6) { [births, deaths, wrong] index in
                for round in 0..<Rounds.racing(300) {
                    let name = "\(round % 8)"
                    switch index {
                    case 0:
                        _ = try? locator.register(
                            Counted("strong", births: births, deaths: deaths), as: (any Greeter).self)
                        locator.unregister((any Greeter).self)
                    case 1:
                        _ = try? locator.registerLazy((any Greeter).self, named: name) { _ in
                            Counted(name, births: births, deaths: deaths)
                        }
                        if round % 3 == 0 { locator.unregister((any Greeter).self, named: name) }
                    case 2:
                        _ = try? locator.replace(
                            Counted(name, births: births, deaths: deaths), as: (any Greeter).self, named: name)
                        _ = try? locator.replaceLazy((any Clock).self) { _ in
                            Counted("always", births: births, deaths: deaths)
                        }
                    case 3:
                        _ = try? locator.registerWeak(held, as: (any Clock).self, named: name) { $0 }
                        let registration = try? locator.registerTransient((any Clock).self, named: "t\(name)") { _ in
                            Counted(name, births: births, deaths: deaths)
                        }
                        if (try? locator.resolve((any Clock).self, named: name)) !== held { wrong.increment() }
                        if let registration { locator.unregister(registration) }
                        locator.unregister((any Clock).self, named: name)
                    default:
                        if (try? locator.resolve((any Greeter).self)) == nil { wrong.increment() }
                        if (try? locator.resolve((any Clock).self)) == nil { wrong.increment() }
                        let named = try? locator.resolveOptional((any Greeter).self, named: name)
                        if let named, named.greeting != name { wrong.increment() }
                        if round % 50 == 0 { _ = locator.graph() }
                    }
                }
            }
        }
        #expect(wrong.value == 0)
        #expect(births.value == deaths.value)
        #expect(births.value > Rounds.racing(300))
    }

    @Test("Each lazy registration is built at most once while threads replace and remove it")
    func atMostOnce() throws {
        do {
            let locator = ServiceLocator(name: "app")
            let rounds = Rounds.racing(400)
            let builds = (0..<rounds).map { _ in Counter() }
            Workers.run(6) { [births, deaths, wrong] index in
                for round in 0..<rounds {
                    if index == 0 {
                        _ = try? locator.replaceLazy((any Greeter).self) { _ in
                            builds[round].increment()
                            return Counted("\(round)", births: births, deaths: deaths)
                        }
                    } else if index == 1, round % 7 == 0 {
                        locator.unregister((any Greeter).self)
                    } else if let error = thrown(by: { try locator.resolve((any Greeter).self) }),
                        error.reason != .missing
                    {
                        wrong.increment()
                    }
                }
            }
            #expect(builds.allSatisfy { $0.value <= 1 })
        }
        #expect(wrong.value == 0)
        #expect(births.value == deaths.value)
    }

    @Test("Factories that fail run again, and never two at a time")
    func failures() throws {
        let succeeded = Counter()
        do {
            let locator = ServiceLocator(name: "app")
            for name in 0..<4 {
                let runs = Counter()
                let ends = Counter()
                try locator.registerLazy((any Greeter).self, named: "\(name)") { [births, deaths, wrong] _ in
                    let run = runs.increment()
                    if run != ends.value + 1 { wrong.increment() }
                    defer { ends.increment() }
                    if run < 20 { throw FactoryFailure() }
                    return Counted("", births: births, deaths: deaths)
                }
            }
            Workers.run(4) { [wrong] _ in
                for name in 0..<4 {
                    while let error = thrown(by: { try locator.resolve((any Greeter).self, named: "\(name)") }) {
                        if error.reason != .constructionFailed { wrong.increment() }
                    }
                    succeeded.increment()
                }
            }
        }
        #expect(succeeded.value == 16)
        #expect(wrong.value == 0)
        #expect(births.value == 4)
        #expect(deaths.value == 4)
    }

    @Test("Factories that need each other's services on several threads end with a service or a cycle")
    func webs() throws {
        for round in 0..<Rounds.racing(30) {
            let locator = ServiceLocator(name: "app")
            // Each needs two others. In even rounds there is no cycle.
            for index in 0..<8 {
                let needs =
                    round % 2 == 0 ? [index + 1, index + 2].filter { $0 < 8 } : [(index + 1) % 8, (index + 3) % 8]
                try locator.registerLazy(Int.self, named: "\(index)") { locator in
                    try needs.reduce(1) { try $0 + locator.resolve(Int.self, named: "\($1)") }
                }
            }
            Workers.run(4) { [wrong] index in
                let error = thrown { try locator.resolve(Int.self, named: "\(index * 2)") }
                if round % 2 == 0 {
                    if error != nil { wrong.increment() }
                } else if error?.reason != .cycle, error?.reason != .constructionFailed {
                    wrong.increment()
                }
            }
        }
        #expect(wrong.value == 0)
    }

    @Test("No wait is left after threads waited for each other, however they end")
    func ledgerIsEmpty() async {
        // In a separate process, because all tests of a process share the ledger.
        await #expect(processExitsWith: .success) {
            for _ in 0..<20 {
                let locator = ServiceLocator(name: "app")
                for index in 0..<6 {
                    try locator.registerLazy(Int.self, named: "\(index)") { locator in
                        try locator.resolve(Int.self, named: "\((index + 1) % 6)")
                    }
                }
                Workers.run(4) { index in _ = try? locator.resolve(Int.self, named: "\(index)") }
            }
            precondition(ConstructionLedger.shared.withLock { $0.isEmpty })
        }
    }

    @Test("A weak object that is released and registered again is found, or the parent's service is")
    func weak() throws {
        do {
            let root = ServiceLocator.silent("root")
            let locator = ServiceLocator(name: "app", parent: root)
            try root.register(counted("root"), as: (any Greeter).self)
            Workers.run(4) { [births, deaths, wrong] index in
                for _ in 0..<Rounds.racing(300) {
                    if index < 2 {
                        let object = Counted("weak", births: births, deaths: deaths)
                        // Refused while the other thread's object lives. Replaces it once that is released.
                        _ = try? locator.registerWeak(object, as: (any Greeter).self) { $0 }
                    } else {
                        let greeting = (try? locator.resolve((any Greeter).self))?.greeting
                        if greeting != "weak", greeting != "root" { wrong.increment() }
                    }
                }
            }
        }
        #expect(wrong.value == 0)
        #expect(births.value == deaths.value)
    }

    @Test("Objects can use their locator in deinit, or find it released")
    func deinitCallsBack() throws {
        let meddlers = 200
        do {
            let locator = ServiceLocator(name: "app")
            try locator.register(1, as: Int.self)
            Workers.run(4) { [deaths, wrong] index in
                for round in 0..<(meddlers / 4) {
                    let meddler = Meddler(locator.reference, deaths: deaths)
                    switch round % 4 {
                    case 0:
                        // The factory is released with its registration, and the object with the factory.
                        _ = try? locator.registerLazy((any Greeter).self, named: "\(index)") { _ in meddler }
                        locator.unregister((any Greeter).self, named: "\(index)")
                    case 1: _ = try? locator.registerWeak(meddler, as: (any Greeter).self) { $0 }
                    case 2: _ = try? locator.register(meddler, as: (any Greeter).self, named: "strong")
                    default:
                        // The object is released with the factory, after its success.
                        _ = try? locator.replaceLazy(String.self) { _ in meddler.greeting }
                        if (try? locator.resolve(String.self)) != "meddler" { wrong.increment() }
                    }
                }
            }
            #expect(try locator.resolve(Int.self) == 1)
        }
        #expect(wrong.value == 0)
        #expect(deaths.value == meddlers)
    }

    @Test("An object that a factory captured can resolve the factory's service in deinit")
    func capturedResolves() throws {
        let locator = ServiceLocator(name: "app")
        let seen = Recorder<String>()
        do {
            let reference = locator.reference
            let captured = Mortal("captured") { _ in
                seen.append((try? reference.live().resolve(String.self)) ?? "nothing")
                seen.append("\(reference.locator?.unregister(String.self) ?? false)")
            }
            try locator.registerLazy(String.self) { _ in captured.greeting + "'s" }
        }
        #expect(try locator.resolve(String.self) == "captured's")
        #expect(seen.all == ["captured's", "true"])
        // The same if the factory is released without having run.
        do {
            let captured = Mortal { [reference = locator.reference] _ in
                seen.append((try? reference.live().resolve(Int.self)) == 1 ? "new" : "nothing")
            }
            try locator.registerLazy(Int.self) { _ in captured.greeting.count }
        }
        try locator.replace(1, as: Int.self)
        #expect(seen.all.last == "new")
    }

    @Test("Threads that use locators while they are closed get services or the error, and nothing leaks")
    func closing() async throws {
        for _ in 0..<Rounds.racing(20) {
            let locator = ServiceLocator(name: "app")
            let child = ServiceLocator(name: "child", parent: locator)
            try locator.register(counted(), as: (any Clock).self)
            for name in 0..<8 {
                try locator.registerLazy((any Greeter).self, named: "\(name)") { [births, deaths] _ in
                    Counted("\(name)", births: births, deaths: deaths)
                }
            }
            let workers = Workers()
            let started = Counter()
            for _ in 0..<3 {
                workers.start { [births, deaths, wrong] in
                    started.increment()
                    var round = 0
                    while true {
                        let new = Counted("new", births: births, deaths: deaths)
                        let errors = [
                            thrown { try child.resolve((any Greeter).self, named: "\(round % 8)") },
                            thrown { try locator.resolve((any Clock).self) },
                            thrown { try locator.replace(new, as: (any Greeter).self, named: "new") },
                        ]
                        for error in errors where error != nil && error?.reason != .closed { wrong.increment() }
                        if errors.allSatisfy({ $0?.reason == .closed }) { return }
                        round += 1
                        // Stays below the limit of registrations.
                        if round > 2_000 { return }
                    }
                }
            }
            spin { started.value == 3 }
            await locator.close()
            #expect(thrown { try child.resolve((any Greeter).self, named: "0") }?.reason == .closed)
            workers.join()
        }
        #expect(wrong.value == 0)
        await yield { births.value == deaths.value }
        #expect(births.value == deaths.value)
    }

    @Test("Searches find a service of the root while other threads change and finally close a locator between")
    func ancestors() async throws {
        var levels = [ServiceLocator(name: "root")]
        for name in ["first", "second", "third", "lowest"] {
            levels.append(ServiceLocator(name: name, parent: levels.last))
        }
        let chain = levels
        try chain[0].register(PoliteGreeter("root"), as: (any Greeter).self)
        let started = Counter()
        let readers = Workers()
        for _ in 0..<3 { readers.start { [wrong] in Self.readUntilClosed(chain, started, wrong) } }
        spin { started.value == 3 }
        Workers.run(3) { index in
            let locator = chain[index + 1]
            for round in 0..<15 {
                // New types, so that tables grow, and the type that the readers resolve.
                Self.write(round, nestedIn: 40, into: locator) { depth in
                    switch (depth + index) % 4 {
                    case 0: _ = try? locator.register(PoliteGreeter("middle"), as: (any Greeter).self)
                    case 1: _ = try? locator.replace(PoliteGreeter("middle"), as: (any Greeter).self)
                    case 2: _ = try? locator.replaceLazy((any Greeter).self) { _ in PoliteGreeter("middle") }
                    default: locator.unregister((any Greeter).self)
                    }
                }
            }
            locator.unregister((any Greeter).self)
        }
        await chain[2].close()
        readers.join()
        #expect(wrong.value == 0)
    }

    /// Resolves from the lowest locator until that throws, which is right once one of the ancestors is closed.
    private static func readUntilClosed(_ chain: [ServiceLocator], _ started: Counter, _ wrong: Counter) {
        started.increment()
        while true {
            do throws(ServiceLocatorError) {
                let greeting = try chain[4].resolve((any Greeter).self).greeting
                if greeting != "root", greeting != "middle" { wrong.increment() }
                if try chain[4].resolveOptional((any Clock).self) != nil { wrong.increment() }
            } catch {
                if error.reason != .closed || !chain[2].isClosed { wrong.increment() }
                return
            }
        }
    }

    /// Registers or removes values of `depth` types, each an array of the previous type, and calls `body` in between.
    private static func write<Value: Sendable>(
        _ value: Value, nestedIn depth: Int, into locator: ServiceLocator, between body: (Int) -> Void
    ) {
        guard depth > 0 else { return }
        if !locator.unregister(Value.self) { _ = try? locator.register(value, as: Value.self) }
        body(depth)
        write([value], nestedIn: depth - 1, into: locator, between: body)
    }

    @Test("A second resolve after a factory failed during closing throws closed")
    func failingWhileClosing() async throws {
        for _ in 0..<10 {
            let locator = ServiceLocator(name: "app")
            let runs = Counter()
            try locator.registerLazy(Int.self) { locator in
                runs.increment()
                spin { locator.isClosed }
                throw FactoryFailure()
            }
            let reasons = Recorder<ServiceLocatorError.Reason?>()
            let workers = Workers()
            workers.start {
                for _ in 0..<2 { reasons.append(thrown { try locator.resolve(Int.self) }?.reason) }
            }
            spin { runs.value == 1 }
            await locator.close()
            workers.join()
            #expect(reasons.all == [.constructionFailed, .closed])
            guard runs.value == 1 else { return }
        }
    }

    @Test("Tasks that resolve asynchronous services during removal and closing finish, and nothing leaks")
    func tasks() async throws {
        for round in 0..<Rounds.racing(20) {
            let locator = ServiceLocator(name: "app")
            await withTaskGroup(of: Void.self) { [births, deaths, wrong] group in
                for index in 0..<8 {
                    group.addTask {
                        for step in 0..<20 {
                            let name = "\(step % 3)"
                            if index == 0 {
                                _ = try? locator.registerAsync((any Greeter).self, named: name) { _ in
                                    await Task.yield()
                                    if step % 4 == 0 { throw FactoryFailure() }
                                    return Counted(name, births: births, deaths: deaths)
                                }
                                if step % 5 == 0 { locator.unregister((any Greeter).self, named: name) }
                            } else if index == 1, step == 10, round % 2 == 0 {
                                await locator.close()
                            } else {
                                let error = await thrownLater {
                                    try await locator.resolveAsync((any Greeter).self, named: name)
                                }
                                let allowed: [ServiceLocatorError.Reason?] = [
                                    nil, .missing, .constructionFailed, .closed,
                                ]
                                if !allowed.contains(error?.reason) { wrong.increment() }
                            }
                            await Task.yield()
                        }
                    }
                }
            }
        }
        #expect(wrong.value == 0)
        await yield { births.value == deaths.value }
        #expect(births.value == deaths.value)
    }
}
