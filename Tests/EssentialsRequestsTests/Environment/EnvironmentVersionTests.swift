import EssentialsHTTP
import EssentialsRequests
import EssentialsTools
import TestTools
import Testing

@Suite("Versions of environments")
struct EnvironmentVersionTests {
    /// An environment that changes and does not count its changes.
    private final class Uncounted: EnvironmentService {
        let current: Mutex<EnvironmentSnapshot>
        init(_ snapshot: EnvironmentSnapshot) { current = Mutex(snapshot) }
        var snapshot: EnvironmentSnapshot { current.withLock { $0 } }
        var baseURL: RequestURL { snapshot.baseURL }
    }

    private final class Published: Sendable {
        let number = Atomic<UInt64>(0)
    }

    private final class Seen: Sendable {
        let names = Mutex<[UInt64: String]>([:])
    }

    /// The environment whose name is a number.
    private static func numbered(_ number: UInt64) throws -> EnvironmentSnapshot {
        EnvironmentSnapshot(name: "\(number)", baseURL: try RequestURL("https://h/\(number)/"))
    }

    private static func number(of snapshot: EnvironmentSnapshot) throws -> UInt64 {
        let number = try #require(UInt64(snapshot.name))
        // A snapshot whose parts belong to different environments would show here.
        #expect(snapshot.baseURL.target == "/\(number)/")
        return number
    }

    @Test("The version of an environment counts its changes")
    func counts() throws {
        #expect(try ConstantEnvironment("https://h/").version == 0)
        let mutable = MutableEnvironment(try Self.numbered(0))
        #expect(mutable.version == 0)
        mutable.set(try Self.numbered(1))
        try mutable.set(baseURL: "https://h/2/")
        #expect(mutable.version == 2)
        try mutable.set(baseURL: "https://h/2/")
        #expect(throws: RequestFailure.self) { try mutable.set(baseURL: "none") }
        #expect(mutable.version == 2)
        let switchable = try SwitchableEnvironment([Self.numbered(0), Self.numbered(1)])
        #expect(switchable.version == 0)
        try switchable.select("0")
        #expect(switchable.version == 0)
        try switchable.select("1")
        try switchable.select("0")
        #expect(switchable.version == 2)
    }

    @Test("An environment that does not count its changes has no version")
    func uncounted() throws {
        let environment: any EnvironmentService = Uncounted(try Self.numbered(0))
        #expect(environment.version == nil)
    }

    @Test("A versioned snapshot of any environment is current until the environment changes")
    func current() throws {
        let first = try Self.numbered(0)
        let second = try Self.numbered(1)
        let mutable = MutableEnvironment(first)
        let uncounted = Uncounted(first)
        let environments: [(any EnvironmentService, (EnvironmentSnapshot) -> Void)] = [
            (mutable, { mutable.set($0) }), (uncounted, { new in uncounted.current.withLock { $0 = new } }),
        ]
        for (environment, change) in environments {
            let kept = VersionedSnapshot(of: environment)
            #expect(kept.snapshot == first)
            #expect(kept.isCurrent(in: environment))
            change(first)
            #expect(kept.isCurrent(in: environment))
            change(second)
            #expect(!kept.isCurrent(in: environment))
            let renewed = VersionedSnapshot(of: environment)
            #expect(renewed.snapshot == second)
            #expect(renewed.isCurrent(in: environment))
        }
        let constant = try ConstantEnvironment("https://h/")
        #expect(VersionedSnapshot(of: constant).isCurrent(in: constant))
    }

    @Test("A snapshot between two equal versions belongs to that version while the environment changes")
    func tearing() async throws {
        let environment = MutableEnvironment(try Self.numbered(0))
        let last = UInt64(Rounds.racing(15_000))
        try await withThrowingTaskGroup { group in
            // One writer, so that the version of a snapshot is its number.
            group.addTask { @concurrent in
                for number in 1...last { environment.set(try Self.numbered(number)) }
            }
            for _ in 0..<2 {
                group.addTask { @concurrent in
                    var version: UInt64 = 0
                    while version < last {
                        let before = try #require(environment.version)
                        let number = try Self.number(of: environment.snapshot)
                        let after = try #require(environment.version)
                        #expect(before >= version && after >= before)
                        #expect(number >= before)
                        if before == after { #expect(number == before) }
                        version = after
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(environment.version == last)
    }

    @Test("A versioned snapshot that is current is never an old one while the environment changes")
    func stale() async throws {
        let environment = MutableEnvironment(try Self.numbered(0))
        let last = UInt64(Rounds.racing(15_000))
        // The writer publishes each number after its change. A reader that has seen a number expects it or a later one.
        let published = Published()
        try await withThrowingTaskGroup { group in
            group.addTask { @concurrent in
                for number in 1...last {
                    environment.set(try Self.numbered(number))
                    published.number.store(number, ordering: .releasing)
                }
            }
            group.addTask { @concurrent in
                var kept = VersionedSnapshot(of: environment)
                while true {
                    let known = published.number.load(ordering: .acquiring)
                    if !kept.isCurrent(in: environment) { kept = VersionedSnapshot(of: environment) }
                    let number = try Self.number(of: kept.snapshot)
                    #expect(number >= known)
                    if known == last { break }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Two tasks that switch an environment never give one version to two environments")
    func switching() async throws {
        let environment = try SwitchableEnvironment([Self.numbered(0), Self.numbered(1), Self.numbered(2)])
        let seen = Seen()
        try await withThrowingTaskGroup { group in
            for writer in 0..<2 {
                group.addTask { @concurrent in
                    for round in 0..<Rounds.racing(3_000) { try environment.select("\((round + writer) % 3)") }
                }
            }
            group.addTask { @concurrent in
                for _ in 0..<Rounds.racing(9_000) {
                    let before = try #require(environment.version)
                    let name = environment.snapshot.name
                    guard environment.version == before else { continue }
                    let known = seen.names.withLock { $0.updateValue(name, forKey: before) }
                    #expect(known == nil || known == name)
                }
            }
            try await group.waitForAll()
        }
    }
}
