import EssentialsLocator
import EssentialsTestTraits
import EssentialsTools
import Testing

protocol Mailer: Sendable {
    var name: String { get }
}

struct NamedMailer: Mailer {
    let name: String
}

/// Counts the calls of `close()`.
final class Connection: Closeable {
    let closings = Atomic<Int>(0)
    func close() async { closings.wrappingAdd(1, ordering: .relaxed) }
}

private let app = Assembly("app") { locator in
    try locator.register(NamedMailer(name: "real"), as: (any Mailer).self)
    try locator.registerLazy(Connection.self) { _ in Connection() }
}

private func doubles(_ name: String) -> Assembly {
    Assembly(name) { locator in
        try locator.register(NamedMailer(name: name), as: (any Mailer).self)
    }
}

/// Records what the tests of `ServiceScopeTraitTests` leave behind when their scopes end.
private let left = Mutex<[ServiceLocator]>([])

@Suite("Service scopes of tests", .serviceScope(of: app))
struct ServiceScopeTraitTests {
    private var mailer: String { get throws { try ServiceLocator.current.resolve((any Mailer).self).name } }

    @Test("A suite's assembly is registered in a scope of each test")
    func assembly() throws {
        #expect(try mailer == "real")
        #expect(ServiceLocator.current.name == "assembly()")
        #expect(ServiceLocator.current.parent == nil)
    }

    @Test(
        "A test's doubles override the suite's services", .serviceScope(overriding: doubles("first"), doubles("last")))
    func nested() throws {
        #expect(try mailer == "last")
        #expect(try ServiceLocator.current.parent?.resolve((any Mailer).self).name == "real")
    }

    @Test("Doubles replace an assembly's own registrations", .serviceScope(of: app, overriding: doubles("double")))
    func overridden() throws {
        #expect(try mailer == "double")
        #expect(ServiceLocator.current.parent == nil)
    }

    @Test("Concurrent tests see their own doubles", arguments: 0..<20)
    func parallel(_ number: Int) async throws {
        try ServiceLocator.current.replace(NamedMailer(name: "\(number)"), as: (any Mailer).self)
        for _ in 0..<20 {
            await Task.yield()
            #expect(try mailer == "\(number)")
        }
    }
}

@Suite("Reports of service scopes")
struct ServiceScopeReportTests {
    /// Runs a closure as the trait runs a test.
    private func run(_ body: @escaping @Sendable @concurrent () async throws -> Void) async throws {
        let test = try #require(Test.current)
        try await ServiceScopeTrait.serviceScope(of: app).provideScope(for: test, testCase: nil, performing: body)
    }

    @Test("The services of a test's scope are closed after the test, even if it throws", arguments: [true, false])
    func closes(_ fails: Bool) async throws {
        struct Failure: Error {}
        let seen = Mutex<Connection?>(nil)
        do {
            try await run {
                let connection = try ServiceLocator.current.resolve(Connection.self)
                seen.withLock { $0 = connection }
                if fails { throw Failure() }
            }
            #expect(!fails)
        } catch {
            #expect(fails && error is Failure)
        }
        #expect(seen.withLock { $0 }?.closings.load(ordering: .relaxed) == 1)
    }

    @Test("A scope below the test's that was not closed is an issue, alive or released", arguments: [true, false])
    func unclosed(_ lives: Bool) async throws {
        try await withKnownIssue {
            try await run {
                let scope = ServiceLocator(name: "forgotten", parent: .current)
                try scope.register(Connection(), as: Connection.self)
                if lives { left.withLock { $0.append(scope) } }
            }
        } matching: { issue in
            issue.comments.contains { $0.rawValue.contains("in \"forgotten\" was not closed") }
        }
    }

    @Test("A scope that was closed or holds no closeable service is not an issue")
    func closed() async throws {
        try await run {
            try await ServiceLocator.current.withScope("inner") { scope in
                try scope.register(Connection(), as: Connection.self)
            }
            let plain = ServiceLocator(name: "plain", parent: .current)
            try plain.register(1, as: Int.self)
        }
    }
}
