import EssentialsLocator
import Testing

/// The kinds of registration whose memory is tested.
enum RetainedKind: String, CaseIterable, Sendable {
    case strong, lazyBuilt, lazyUnbuilt, lazyFailed, weak, weakProxy, transient, arguments, asyncBuilt, asyncUnbuilt
    case asyncFailed, mainActor, mainActorLazyBuilt, mainActorLazyUnbuilt, severalTypes

    /// The objects that the locator retains until it is released: a service, a proxy, or an object that the factory or
    /// the conversion captured.
    var retained: [String] {
        switch self {
        case .strong, .severalTypes, .mainActor, .lazyBuilt, .asyncBuilt, .mainActorLazyBuilt: ["service"]
        case .lazyUnbuilt, .lazyFailed, .asyncUnbuilt, .asyncFailed, .mainActorLazyUnbuilt, .transient, .arguments,
            .weak:
            ["capture"]
        case .weakProxy: ["proxy"]
        }
    }
}

extension SemanticsTests {
    private typealias Deaths = Recorder<String>

    /// A locator with one registration of the kind, which is resolved if the kind requires that.
    @MainActor
    private func makeLocator(_ kind: RetainedKind, _ deaths: Deaths) async throws -> ServiceLocator {
        let locator = ServiceLocator(name: "scope", parent: root)
        let capture = Mortal("capture") { deaths.append($0) }
        let type = (any Greeter).self
        let service = { @Sendable in Mortal("service") { deaths.append($0) } }
        switch kind {
        case .strong: try locator.register(service(), as: type)
        case .lazyBuilt, .lazyUnbuilt:
            try locator.registerLazy(type) { _ in
                _ = capture
                return service()
            }
            if kind == .lazyBuilt { _ = try locator.resolve(type) }
        case .lazyFailed:
            try locator.registerLazy(type) { _ in throw FactoryFailure(capture.greeting) }
            _ = try? locator.resolve(type)
        case .weak:
            let object = service()
            try locator.registerWeak(object, as: type) { object in
                _ = capture
                return object
            }
            #expect(try locator.resolve(type) === object)
        case .weakProxy:
            let object = service()
            try locator.registerWeakProxy(object, as: type) { object in
                GreeterProxy(object) { deaths.append("proxy") }
            }
            #expect(try locator.resolve(type).greeting == "service")
        case .transient:
            try locator.registerTransient(type) { _ in
                _ = capture
                return service()
            }
            _ = try locator.resolve(type)
        case .arguments:
            try locator.registerTransient(type) { (_, _: Int, _: String) in
                _ = capture
                return service()
            }
            _ = try locator.resolve(type, arguments: 1, "a")
        default: try await addOther(kind, to: locator, capture: capture, service: service)
        }
        return locator
    }

    @MainActor
    private func addOther(
        _ kind: RetainedKind, to locator: ServiceLocator, capture: Mortal, service: @escaping @Sendable () -> Mortal
    ) async throws {
        let type = (any Greeter).self
        switch kind {
        case .asyncBuilt, .asyncUnbuilt:
            try locator.registerAsync(type) { _ in
                _ = capture
                return service()
            }
            if kind == .asyncBuilt { _ = try await locator.resolveAsync(type) }
        case .asyncFailed:
            try locator.registerAsync(type) { _ in throw FactoryFailure(capture.greeting) }
            _ = try? await locator.resolveAsync(type)
        case .mainActor: try locator.registerOnMainActor(service(), as: type)
        case .mainActorLazyBuilt, .mainActorLazyUnbuilt:
            try locator.registerLazyOnMainActor(type) { _ in
                _ = capture
                return service()
            }
            if kind == .mainActorLazyBuilt { _ = try locator.resolveOnMainActor(type) }
        default: try locator.register(service(), as: type, Mortal.self)
        }
    }

    /// Lets tasks finish that may retain a reference a little longer than the task that waited for them.
    private func settle(until condition: () -> Bool) async {
        for _ in 0..<100_000 where !condition() { await Task.yield() }
    }

    @Test(
        "A locator retains exactly what each kind of registration should retain, and releases all of it",
        arguments: RetainedKind.allCases)
    @MainActor
    func retains(kind: RetainedKind) async throws {
        let deaths = Deaths()
        var locator: ServiceLocator? = try await makeLocator(kind, deaths)
        weak let observed = locator
        // Every other object was never retained or is released.
        let early = ["capture", "service"].filter { !kind.retained.contains($0) && isMade($0, by: kind) }
        await settle { Set(deaths.all).isSuperset(of: early) }
        #expect(deaths.all.sorted() == early)
        locator = nil
        await settle { observed == nil }
        #expect(observed == nil)
        #expect(deaths.all.sorted() == (early + kind.retained).sorted())
    }

    /// Every kind creates the captured object. Kinds whose factory fails create no service.
    private func isMade(_ what: String, by kind: RetainedKind) -> Bool {
        switch kind {
        case .lazyUnbuilt, .lazyFailed, .asyncUnbuilt, .asyncFailed, .mainActorLazyUnbuilt: what == "capture"
        default: true
        }
    }

    @Test("A registration token retains neither the service nor the locator")
    func tokenRetainsNothing() throws {
        let deaths = Deaths()
        weak var observed: ServiceLocator?
        func register() throws -> Registration {
            let locator = ServiceLocator(name: "scope")
            observed = locator
            return try locator.register(Mortal { deaths.append($0) }, as: (any Greeter).self)
        }
        let registration = try register()
        #expect(observed == nil)
        #expect(deaths.all == ["Mortal"])
        #expect(!root.unregister(registration))
    }

    @Test("A LocatorReference in a service and the parameter of a factory create no reference cycle")
    func referenceIsWeak() throws {
        final class Resolving: Sendable {
            let locator: LocatorReference
            init(_ locator: LocatorReference) { self.locator = locator }
        }
        weak var observed: ServiceLocator?
        do {
            let locator = ServiceLocator(name: "scope")
            observed = locator
            try locator.register(3, as: Int.self)
            try locator.registerLazy(Resolving.self) { Resolving($0.reference) }
            #expect(try locator.resolve(Resolving.self).locator.live().resolve(Int.self) == 3)
        }
        #expect(observed == nil)
    }

    @Test("Errors of cycles, on one thread or two, retain no locator")
    func cyclesRetainNothing() throws {
        weak var observed: ServiceLocator?
        let errors = Recorder<ServiceLocatorError?>()
        do {
            let locator = ServiceLocator(name: "scope")
            observed = locator
            let inside = Counter()
            for index in 0..<2 {
                try locator.registerLazy(Int.self, named: "\(index)") { locator in
                    inside.increment()
                    spin { inside.value >= 2 }
                    return try locator.resolve(Int.self, named: "\(1 - index)")
                }
            }
            Workers.run(2) { index in
                errors.append(
                    failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self, named: "\(index)") })
            }
            errors.append(failure { () throws(ServiceLocatorError) in try locator.resolve(Int.self, named: "0") })
        }
        #expect(errors.all.map { $0?.reason } == [.cycle, .cycle, .cycle])
        #expect(observed == nil)
    }
}

/// A proxy of a greeter that calls a closure in `deinit`.
private final class GreeterProxy: Greeter, ServiceProxy {
    let target: WeakHandle<any Greeter>
    private let onDeath: @Sendable () -> Void

    init(_ greeter: some Greeter, onDeath: @escaping @Sendable () -> Void) {
        target = WeakHandle(greeter) { $0 }
        self.onDeath = onDeath
    }

    deinit { onDeath() }

    var greeting: String { requiredTarget().greeting }
}
