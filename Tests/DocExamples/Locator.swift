// swift-format-ignore-file
// The code stands as in the documentation comments.

import EssentialsLocator
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials

private protocol Clock: Sendable {}
private protocol Scheduler: Sendable {}
private protocol Settings: Sendable { var databasePath: String { get } }
private protocol Probe: Sendable {}
private protocol CartService: AnyObject, Sendable {
    func add(_ item: String) throws
    var coupon: String? { get }
    func clear()
    var count: Int { get }
}
private protocol Checkout: Sendable { func run() async throws -> String }
private protocol StatusDisplay: AnyObject {}
private protocol LogService: Sendable {}
private protocol ReadingStore: Sendable {}
private protocol WritingStore: Sendable {}
private protocol MetricsService: Sendable {}
private protocol Session: Sendable {}
private protocol Report: Sendable {}
private protocol FontService: Sendable {}
private protocol Database: Sendable {}
private protocol Mailer: Sendable {}
private protocol SMTPService: Sendable {}

private struct StandardSettings: Settings { var databasePath = "" }
private struct SystemClock: Clock {}
private struct TimerScheduler: Scheduler { let clock: any Clock }
private struct FileLog: LogService { init(path: String) throws {} }
private struct FileStore: ReadingStore, WritingStore { let path: String }
private struct SilentMetrics: MetricsService {}
private struct UserSession: Session { let clock: any Clock }
private struct PDFReport: Report { let title: String, pages: Int, fonts: any FontService }
private struct SQLDatabase: Database { static func open(path: String) async throws -> SQLDatabase { given() } }
private struct QueueingMailer: Mailer { let locator: LocatorReference }
private struct Recorder: LogService {}
private struct SomeProbe: Probe {}
@MainActor private final class StatusLine: StatusDisplay {
    init() {}
    init(clock: any Clock) {}
}
private final class Cart: CartService {
    init(_ items: [String] = []) {}
    func add(_ item: String) throws {}
    var coupon: String? { nil }
    func clear() {}
    var count: Int { 0 }
}
private final class CartServiceProxy: CartService, ServiceProxy {
    let target: WeakHandle<any CartService>
    init(_ cart: some CartService) { target = WeakHandle(cart) { $0 } }
    func add(_ item: String) throws { try liveTarget().add(item) }
    var coupon: String? { target.service?.coupon }
    func clear() { perform { $0.clear() } }
    var count: Int { requiredTarget().count }
}
private final class JobQueue: Sendable {
    func finishRunningJobs() async {}
    var waitingJobs: Int { get async { 0 } }
}
private let encoder = JSONEncoder()
private func respond(_ status: Int, _ body: Data) {}
private func ScriptedRequests() -> any DataRequestService { given() }

private let show = Application()
private var reference: LocatorReference { given() }
private let locator = ServiceLocator(name: "app")
private let app = ServiceLocator(name: "app")
private let doubles = ServiceLocator(name: "doubles")
private let storage = Assembly("storage") { _ in }
private let (auditPath, path, newPath, item, items) = ("", "", "", "", [""])
private let (probe, recorder, cart) = (SomeProbe(), Recorder(), Cart())
private var error: ServiceLocatorError { given() }
private var requests: any DataRequestService { get { given() } set {} }
private func checkout() async throws {}

// Assembly/Assembly.swift
private func assemblyExample() async throws {
    let network = Assembly("network") { locator in
        try locator.registerLazy((any DataRequestService).self) { locator in
            try HTTPDataRequestService(environment: locator.resolve((any EnvironmentService).self))
        }
    }
    let app = Assembly("app", including: [network, storage]) { locator in
        try locator.register(StandardSettings(), as: (any Settings).self)
    }
    let locator = try app.makeLocator()

    // in a test
    let doubles = Assembly("doubles") { locator in
        try locator.register(ScriptedRequests(), as: (any DataRequestService).self)
    }
    let tested = try app.makeLocator(overriding: [doubles])
    use(locator, tested)
}

// Assembly/Assembly.swift
private func assemblyExample2(app: Assembly) async throws {
    let locator = try app.makeLocator()
    let failures = await locator.validate()
    use(failures)
}

// Errors/ServiceLocatorError.swift
private func serviceLocatorErrorExample() async throws {
    do throws(ServiceLocatorError) {
        requests = try locator.resolve((any DataRequestService).self)
    } catch {
        if error.reason == .missing { print(error.searched) }
        throw error
    }
}

// Errors/ServiceLocatorError.swift
private func serviceLocatorErrorExample2() async throws {
    if let failure = error.rootCause as? RequestFailure { show(failure.remedy ?? failure.message) }
}

// Insight/ServiceGraph.swift
private func serviceGraphExample() async throws {
    print(locator.graph())              // lines of text
    print(locator.graph().mermaid)      // for documents
    print(locator.graph().dot)          // for Graphviz
}

// Insight/ServiceGraph+Drawing.swift
private func serviceGraphDrawingExample() throws {
    try Data(locator.graph().svg.utf8).write(to: URL(filePath: "services.svg"))
}

// Locator/Registration.swift
private func registrationExample() async throws {
    let registration = try locator.register(probe, as: (any Probe).self)
    locator.unregister(registration)
}

// Locator/ServiceLocator+Closing.swift
extension JobQueue: Closeable {
    public func close() async { await finishRunningJobs() }
}

// Insight/ServiceHealth.swift
extension JobQueue: HealthReporting {
    public func health() async -> ServiceHealth {
        let count = await waitingJobs
        return ServiceHealth(count > 1_000 ? .degraded : .ok, facts: ["waiting": "\(count)"])
    }
}

// Insight/ServiceHealth.swift
private func healthReportExample() async throws {
    let report = await locator.health()
    respond(report.isReady ? 200 : 503, try encoder.encode(report))
}

// Locator/ServiceLocator+Health.swift
private func serviceLocatorHealthExample() async {
    let report = await locator.health()
    if !report.isReady { print(report.services) }
}

// Locator/ServiceLocator+Closing.swift
private func serviceLocatorClosingExample2() async throws {
    let session = ServiceLocator(name: "session", parent: app)
    // …
    await session.close()
}

// Locator/ServiceLocator+Closing.swift
private func serviceLocatorClosingExample4() async {
    await app.close(grace: .seconds(20))  // after SIGTERM
}

// Locator/ServiceLocator+Closing.swift
private func serviceLocatorClosingExample3() async throws {
    let receipt = try await app.withScope("checkout") { scope in
        try scope.register(Cart(items), as: (any CartService).self)
        return try await scope.resolve((any Checkout).self).run()
    }
    use(receipt)
}

// Locator/ServiceLocator+Insight.swift
private func serviceLocatorInsightExample() async throws {
    let failures = await locator.validate()
    for failure in failures { print(failure) }
}

// Locator/ServiceLocator+MainActor.swift
@MainActor private func serviceLocatorMainActorExample() throws {
    try locator.registerOnMainActor(StatusLine(), as: (any StatusDisplay).self)
}

// Locator/ServiceLocator+MainActor.swift
@MainActor private func serviceLocatorMainActorExample2() throws {
    try locator.registerLazyOnMainActor((any StatusDisplay).self) { locator in
        StatusLine(clock: try locator.resolve((any Clock).self))
    }
}

// Locator/ServiceLocator+MainActor.swift
@MainActor private func serviceLocatorMainActorExample3() throws -> Any {
    let display = try locator.resolveOnMainActor((any StatusDisplay).self)
    return display
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample() async throws {
    try locator.register(ConstantEnvironment("https://api.example.com/v1/"), as: (any EnvironmentService).self)
    try locator.register(FileLog(path: auditPath), as: (any LogService).self, named: "audit")
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample2() async throws {
    let store = FileStore(path: path)
    try locator.register(store, as: (any ReadingStore).self, (any WritingStore).self)
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample3() async throws {
    try locator.registerIfAbsent(SilentMetrics(), as: (any MetricsService).self)
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample5() async throws {
    try locator.registerTransient((any Session).self) { locator in
        try UserSession(clock: locator.resolve((any Clock).self))
    }
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample6() async throws {
    try locator.registerTransient((any Report).self) { (locator, title: String, pages: Int) in
        try PDFReport(title: title, pages: pages, fonts: locator.resolve((any FontService).self))
    }
    let report = try locator.resolve((any Report).self, arguments: "Sales", 3)
    use(report)
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample7() async throws {
    try locator.registerAsync((any Database).self) { locator in
        try await SQLDatabase.open(path: locator.resolve((any Settings).self).databasePath)
    }
    let database = try await locator.resolveAsync((any Database).self)
    use(database)
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample8() async throws {
    let original = try locator.replace(recorder, as: (any LogService).self)
    use(original)
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample9() async throws {
    try locator.replaceLazy((any LogService).self) { _ in try FileLog(path: newPath) }
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample10() async throws {
    locator.unregister((any LogService).self, named: "audit")
}

// Locator/ServiceLocator+Registering.swift
private func serviceLocatorRegisteringExample11() async throws {
    let registration = try locator.register(probe, as: (any Probe).self)
    defer { locator.unregister(registration) }
    try await checkout()
}

// Locator/ServiceLocator+Weak.swift
private func serviceLocatorWeakExample() async throws {
    let cart = Cart()                       // its owner retains it; a temporary would be released at once
    try locator.registerWeak(cart, as: (any CartService).self) { $0 }
}

// Locator/ServiceLocator+Weak.swift
private func serviceLocatorWeakExample2() async throws {
    try locator.registerWeakProxy(cart, as: (any CartService).self) { CartServiceProxy($0) }
}

// Locator/ServiceLocator.swift
private func serviceLocatorExample() async throws {
    let locator = ServiceLocator(name: "app")
    try locator.register(SystemClock(), as: (any Clock).self)
    try locator.registerLazy((any Scheduler).self) { locator in
        try TimerScheduler(clock: locator.resolve((any Clock).self))
    }
    let scheduler = try locator.resolve((any Scheduler).self)
    use(scheduler)
}

// Locator/ServiceLocator.swift
private func serviceLocatorExample2() async throws {
    try await ServiceLocator.$current.withValue(doubles) { try await checkout() }
}

// Locator/ServiceLocator.swift
private func serviceLocatorExample3() async throws {
    let requests = try locator.resolve((any DataRequestService).self)
    let audit = try locator.resolve((any LogService).self, named: "audit")
    use(requests, audit)
}

// Locator/ServiceLocator.swift
private func serviceLocatorExample4() async throws {
    let metrics = try locator.resolveOptional((any MetricsService).self)
    use(metrics)
}

// Locator/ServiceLocator.swift
private func serviceLocatorExample5() async throws {
    let requests = locator.require((any DataRequestService).self)
    use(requests)
}

// Locator/ServiceLocator.swift
private func serviceLocatorExample7() async throws {
    let database = try await locator.resolveAsync((any Database).self)
    use(database)
}

// References/LocatorReference.swift
private func locatorReferenceExample() async throws {
    try locator.registerLazy((any Mailer).self) { locator in QueueingMailer(locator: locator.reference) }
    // in the mailer, which keeps the reference
    let smtp = try reference.live().resolve((any SMTPService).self)
    use(smtp)
}

// References/Resolved.swift
private func resolvedExample() async throws {
    struct Checkout {
        @Resolved var requests: any DataRequestService
        @Resolved(named: "audit") var log: any LogService

        func run() async throws { try await requests.get("cart") }
    }
}

// References/ServiceProxy.swift
private func serviceProxyExample() async throws {
    final class CartServiceProxy: CartService, ServiceProxy {
        let target: WeakHandle<any CartService>
        init(_ cart: some CartService) { target = WeakHandle(cart) { $0 } }

        func add(_ item: String) throws { try liveTarget().add(item) }    // throws `serviceGone`
        var coupon: String? { target.service?.coupon }                    // nil
        func clear() { perform { $0.clear() } }                           // depends on `goneTarget`
        var count: Int { requiredTarget().count }                         // ends the process, with a text
    }
    try locator.registerWeakProxy(cart, as: (any CartService).self) { CartServiceProxy($0) }
}

// References/ServiceReference.swift
private func serviceReferenceExample() async throws {
    let cart = locator.reference(to: (any CartService).self)
    try cart.resolve().add(item)
}

// References/WeakHandle.swift
private func weakHandleExample() async throws {
    let handle = WeakHandle<any CartService>(cart) { $0 }
    try handle.live().add(item)        // throws `serviceGone` once the cart is released
}

// References/WeaklyResolved.swift
private func weaklyResolvedExample() async throws {
    @MainActor final class CartBadge {
        @WeaklyResolved var cart: (any CartService)?
        var count: Int { cart?.count ?? 0 }
    }
}
