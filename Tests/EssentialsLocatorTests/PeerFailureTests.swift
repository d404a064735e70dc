import EssentialsLocator
import Testing

/// Failures that were observed in other libraries.
@Suite("Failures of other locators")
struct PeerFailureTests {
    let root = ServiceLocator(name: "root")

    @Test("Two threads that resolve first while the factory is slow get one instance from one construction, 50 times")
    func oneConstruction() throws {
        for round in 0..<50 {
            let name = "\(round)"
            let builds = Counter()
            let services = Recorder<any Greeter>()
            try root.registerLazy((any Greeter).self, named: name) { locator in
                builds.increment()
                // Slow enough for the other thread to arrive.
                spin { locator.isWaitedFor((any Greeter).self, named: name) }
                return PoliteGreeter()
            }
            Workers.run(2) { [root] _ in services.append(root.require((any Greeter).self, named: name)) }
            #expect(builds.value == 1)
            #expect(services.all.count == 2)
            #expect(services.all.first === services.all.last)
            #expect(try root.resolve((any Greeter).self, named: name) === services.all.first)
        }
    }

    @Test("A cycle of two services is an error with its path, on any thread, and the process continues")
    func cycle() throws {
        try root.registerLazy((any Greeter).self) { locator in
            PoliteGreeter("\(try locator.resolve((any Clock).self).hour)")
        }
        try root.registerLazy((any Clock).self) { locator in
            FixedClock(hour: try locator.resolve((any Greeter).self).greeting.count)
        }
        let greeter = String(reflecting: (any Greeter).self)
        let clock = String(reflecting: (any Clock).self)
        let path = [greeter, clock, greeter].map { "\($0) in \"root\"" }
        let errors = Recorder<ServiceLocatorError?>()
        let workers = Workers()
        workers.start { [root] in
            errors.append(failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) })
        }
        workers.join()
        errors.append(failure { () throws(ServiceLocatorError) in try root.resolve((any Greeter).self) })
        #expect(errors.all.map { $0?.reason } == [.cycle, .cycle])
        #expect(errors.all.map { $0?.path } == [path, path])
        #expect(errors.all.first??.description.contains(path.joined(separator: " -> ")) == true)
    }

    @Test(
        "A parent's lazy service is built from the parent's services, whichever locator resolves it first",
        arguments: [true, false])
    func override(childAsksFirst: Bool) throws {
        let child = ServiceLocator(name: "child", parent: root)
        try root.register(PoliteGreeter("root"), as: (any Greeter).self)
        try root.registerLazy((any Mailer).self) { GreetingMailer(greeter: try $0.resolve((any Greeter).self)) }
        try child.register(PoliteGreeter("child"), as: (any Greeter).self)
        let order = childAsksFirst ? [child, root] : [root, child]
        let mailers = try order.map { try $0.resolve((any Mailer).self) }
        #expect(mailers.map(\.greeter.greeting) == ["root", "root"])
        #expect(mailers.first === mailers.last)
        #expect(try child.resolve((any Greeter).self).greeting == "child")
    }

    @Test("Registering a key while its service is built is a duplicate, and the service stays registered")
    func registerDuringConstruction() throws {
        let errors = Recorder<ServiceLocatorError?>()
        try root.registerLazy((any Greeter).self) { locator in
            errors.append(
                failure { () throws(ServiceLocatorError) in
                    try locator.register(PoliteGreeter("second"), as: (any Greeter).self)
                })
            return PoliteGreeter("first")
        }
        let first = try root.resolve((any Greeter).self)
        #expect(errors.all.map { $0?.reason } == [.duplicate])
        #expect(first.greeting == "first")
        #expect(try root.resolve((any Greeter).self) === first)
    }

    @Test("After a replacement during construction every later resolve gets the replacement")
    func replaceDuringConstruction() throws {
        let replacement = PoliteGreeter("replacement")
        try root.registerLazy((any Greeter).self) { locator in
            try locator.replace(replacement, as: (any Greeter).self)
            return PoliteGreeter("built")
        }
        #expect(try root.resolve((any Greeter).self).greeting == "built")
        for _ in 0..<3 { #expect(try root.resolve((any Greeter).self) === replacement) }
    }

    @Test("A released weak service in a child is not built again, and the parent's service is found")
    func deadWeak() throws {
        let builds = Counter()
        let child = ServiceLocator(name: "child", parent: root)
        try root.registerLazy((any Greeter).self) { _ in
            builds.increment()
            return PoliteGreeter("root")
        }
        do {
            let greeter = PoliteGreeter("child")
            try child.registerWeak(greeter, as: (any Greeter).self) { $0 }
            #expect(try child.resolve((any Greeter).self) === greeter)
            #expect(builds.value == 0)
        }
        let found = try child.resolve((any Greeter).self)
        #expect(found.greeting == "root")
        #expect(try child.resolve((any Greeter).self) === found)
        #expect(try root.resolve((any Greeter).self) === found)
        #expect(builds.value == 1)
    }

    @Test("Many threads can resolve, build, register and remove on one locator at once")
    func manyThreads() throws {
        let child = ServiceLocator(name: "child", parent: root)
        let held = PoliteGreeter("held")
        try root.registerWeak(held, as: (any Greeter).self) { $0 }
        try root.registerTransient((any Clock).self) { _ in FixedClock(hour: 3) }
        let builds = Counter()
        for index in 0..<200 {
            try root.registerLazy(Int.self, named: "lazy \(index)") { locator in
                builds.increment()
                return try locator.resolve((any Clock).self).hour + index
            }
        }
        let wrong = Counter()
        Workers.run(8) { thread in
            for index in 0..<200 {
                if (try? child.resolve(Int.self, named: "lazy \(index)")) != index + 3 { wrong.increment() }
                if (try? child.resolve((any Greeter).self)) !== held { wrong.increment() }
                let own = "\(thread) \(index)"
                guard let registration = try? child.register(index, as: Int.self, named: own),
                    (try? child.resolve(Int.self, named: own)) == index, child.unregister(registration),
                    (try? child.resolveOptional(Int.self, named: own)) == .some(nil)
                else {
                    wrong.increment()
                    continue
                }
            }
        }
        #expect(wrong.value == 0)
        #expect(builds.value == 200)
        withExtendedLifetime(held) {}
    }
}
