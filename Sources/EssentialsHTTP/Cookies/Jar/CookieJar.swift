import EssentialsStorage
import EssentialsTools

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The cookies of one or more services, in memory or in a file (RFC 6265, with the security rules of its successor's
/// draft).
///
/// ```swift
/// let jar = CookieJar()
/// jar.store(response.headerFields, from: url)
/// jar.field(for: url)?.add(to: &request.headerFields)
///
/// let shared = try CookieJar(file: CookieFile("cookies.txt"))
/// try await shared.flush()                                     // before the program ends
/// ```
///
/// A jar holds at most 200 cookies for a domain and 20,000 in all. If it is full, it evicts expired cookies first, then
/// non-secure cookies of crowded domains, then others of crowded domains, and then the least recently used ones.
///
/// Which domains are public suffixes is decided by ``PublicSuffixRules``; ``publicSuffixSource`` shows the rules in
/// force. All methods may be called on any thread. None of them waits for a file except the initializer that reads it.
public final class CookieJar: CookieStorage, Sendable {
    /// The maximum number of `Set-Cookie` lines that are read in one response.
    static let maximumLines = 200
    /// The minimum time between two automatic saves.
    static let saveInterval = Duration.seconds(1)

    struct State: Sendable {
        var machine: CookieMachine
        var isSaveScheduled = false
        /// The time of the last automatic save.
        var lastSave: Duration?
        var saveFailure: RequestFailure?
    }

    let state: Mutex<State>
    /// The number of cookies, so that an empty jar needs no lock.
    let countNow = Atomic<Int>(0)
    let clock: RequestClock
    let suffixes: PublicSuffixRules
    private let store: (any CookieStore)?

    /// Creates a jar in memory.
    ///
    /// - Parameters:
    ///   - publicSuffixes: The rules for public suffixes. The default is the system's libpsl if it is installed.
    ///   - clock: The clock of the service.
    public convenience init(publicSuffixes: PublicSuffixRules = .automatic, clock: RequestClock = .system) {
        self.init(store: nil, loaded: [], publicSuffixes, clock, CookieLimits())
    }

    /// Creates a jar whose cookies are kept in a file, and reads the file. The call may block.
    ///
    /// - Parameters:
    ///   - file: The file. It need not exist.
    ///   - publicSuffixes: The rules for public suffixes. The default is the system's libpsl if it is installed.
    ///   - clock: The clock of the service.
    /// - Throws: `file` if the file cannot be read, belongs to another user, or is not a regular file (or is a link);
    ///   `resources` if there is no thread for files.
    public convenience init(
        file: CookieFile, publicSuffixes: PublicSuffixRules = .automatic, clock: RequestClock = .system
    ) throws(RequestFailure) {
        let store = try CookieFileStore(file, suffixes: publicSuffixes, clock: clock)
        try self.init(store: store, publicSuffixes, clock)
    }

    /// Creates a jar with a store, and loads its cookies.
    package convenience init(
        store: any CookieStore, _ suffixes: PublicSuffixRules, _ clock: RequestClock,
        limits: CookieLimits = CookieLimits()
    ) throws(RequestFailure) {
        try FileThreads.shared.start()
        self.init(store: store, loaded: try store.load(), suffixes, clock, limits)
    }

    private init(
        store: (any CookieStore)?, loaded: [Cookie], _ suffixes: PublicSuffixRules, _ clock: RequestClock,
        _ limits: CookieLimits
    ) {
        var machine = CookieMachine(limits: limits, suffixes: suffixes, tracksChanges: store != nil)
        if !loaded.isEmpty { machine.adopt(loaded, now: clock.date) }
        countNow.store(machine.count, ordering: .relaxed)
        state = Mutex(State(machine: machine))
        self.store = store
        self.suffixes = suffixes
        self.clock = clock
    }

    /// Where the rules for public suffixes come from. Without a list, cookies for parent domains are refused.
    public var publicSuffixSource: PublicSuffixRules.Source { suffixes.source }

    /// The number of cookies. Some of them may have expired.
    public var count: Int { countNow.load(ordering: .relaxed) }

    /// The failure of the latest save; `nil` if it succeeded. The next change and ``flush()`` try again.
    ///
    /// The shutdown of a service throws nothing, so a program reads the failure here.
    public var saveFailure: RequestFailure? { state.withLock { $0.saveFailure } }

    // MARK: For a stage

    /// Whether there is a cookie for a URL. An empty jar decides this without a lock or an allocation.
    public func hasCookies(for url: RequestURL) -> Bool {
        guard countNow.load(ordering: .relaxed) > 0 else { return false }
        let now = clock.date
        return change { $0.hasCookies(for: url, now: now) }
    }

    /// The `Cookie` field for a URL: cookies with longer paths first, then those that were created earlier, at most
    /// 16,384 bytes. An empty jar returns `nil` without a lock or an allocation.
    public func field(for url: RequestURL, countsAsUse: Bool) -> CookieField? {
        guard countNow.load(ordering: .relaxed) > 0 else { return nil }
        let now = clock.date
        return change { $0.field(for: url, now: now, countsAsUse: countsAsUse) }
    }

    /// Stores the cookies of a response. At most 200 lines are read.
    @discardableResult
    public func store(_ headerFields: HTTPFields, from url: RequestURL) -> [CookieRefusal] {
        store(headerFields, from: url, since: nil)
    }

    /// Stores the cookies of a response to a request that began at a certain time, except those that a host would receive
    /// whose cookies were removed since.
    package func store(
        _ headerFields: HTTPFields, from url: RequestURL, since begun: Epoch?
    ) -> [CookieRefusal] {
        let lines = headerFields[fields: .setCookie]
        guard !lines.isEmpty else { return [] }
        var refusals: [CookieRefusal] = []
        let now = clock.date
        for line in lines.prefix(Self.maximumLines) {
            let refusal = line.withUnsafeBytesOfValue { store($0, from: url, now, since: begun) }
            if let refusal { refusals.append(refusal) }
        }
        if lines.count > Self.maximumLines { refusals.append(.lineLimit) }
        return refusals
    }

    /// Stores a cookie that is written like the value of a `Set-Cookie` field.
    ///
    /// ```swift
    /// jar.store("consent=yes; Path=/; Max-Age=86400", from: url)
    /// ```
    ///
    /// - Returns: The reason why nothing was stored; `nil` if the cookie was stored or deleted.
    @discardableResult
    public func store(_ line: String, from url: RequestURL) -> CookieRefusal? {
        var line = line
        return line.withUTF8 { store($0, from: url, clock.date) }
    }

    /// Removes all cookies that a host receives, for any path and scheme, such as after a logout.
    public func removeCookies(visibleTo host: HostName) { change { $0.removeAll(visibleTo: host) } }

    private func store(
        _ line: UnsafeBufferPointer<UInt8>, from url: RequestURL, _ now: Date, since begun: Epoch? = nil
    ) -> CookieRefusal? {
        do throws(CookieRefusal) {
            let cookie = try CookieRules.cookie(from: line, at: url, now: now, suffixes: suffixes)
            let isSecure = url.origin.scheme == .https
            return change { machine in
                // Under the lock of the jar, so that no removal comes between the two.
                if let begun, machine.wasCleared(cookie, since: begun) { return .cleared }
                return machine.store(cookie, isSecureOrigin: isSecure, now: now)
            }
        } catch {
            return error
        }
    }

    // MARK: Saving

    /// Saves all changes to the file. A jar in memory does nothing.
    ///
    /// Call it before the program ends, because changes of the last second may not be saved yet. If another process holds
    /// the lock of the file, the call waits for at most five seconds.
    ///
    /// - Throws: `file` if the changes cannot be saved, with their number if another process holds the lock; they are
    ///   kept, and tried again. `cancelled` if the task is cancelled while another process holds the lock.
    public func flush() async throws(RequestFailure) {
        do throws(RequestFailure) {
            try await store?.save(self)
        } catch {
            state.withLock { $0.saveFailure = error }
            throw error
        }
        state.withLock { $0.saveFailure = nil }
    }

    /// Changes the cookies, and schedules a save if there is something to save.
    @discardableResult
    func change<Outcome: Sendable>(_ body: (inout CookieMachine) -> Outcome) -> Outcome {
        let (outcome, delay) = state.withLock { state in
            let outcome = body(&state.machine)
            let count = state.machine.count
            if countNow.load(ordering: .relaxed) != count { countNow.store(count, ordering: .relaxed) }
            guard store != nil, state.machine.hasChanges, !state.isSaveScheduled else {
                return (outcome, nil as Duration?)
            }
            state.isSaveScheduled = true
            let now = clock.now
            return (outcome, max(state.lastSave.map { $0 + Self.saveInterval - now } ?? .zero, .zero))
        }
        // The task keeps the jar, so that its last changes are saved too.
        if let delay { Task.detached { await self.save(after: delay) } }
        return outcome
    }

    private func save(after delay: Duration) async {
        try? await clock.sleep(for: delay)
        let now = clock.now
        state.withLock {
            $0.isSaveScheduled = false
            $0.lastSave = now
        }
        var failure: RequestFailure?
        do throws(RequestFailure) { try await store?.save(self) } catch { failure = error }
        state.withLock { $0.saveFailure = failure }
    }
}

extension CookieJar: CookieJournal {
    package var changeCount: Int { state.withLock { $0.machine.changeCount } }

    package func takeChanges() -> [CookieIdentity: CookieChange] { state.withLock { $0.machine.takeChanges() } }

    package func restore(_ changes: [CookieIdentity: CookieChange]) {
        state.withLock { $0.machine.restoreChanges(changes) }
    }

    package func confirm(
        _ changes: [CookieIdentity: CookieChange], kept: Set<CookieIdentity>, contents: [Cookie]?
    ) {
        let now = clock.date
        change { machine in
            machine.confirmChanges(changes, kept: kept)
            if let contents { machine.adopt(contents, now: now) }
        }
    }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// The number of cookies.
    public var description: String { "CookieJar with \(count) cookies" }

    /// The number of cookies.
    public var customMirror: Mirror { Mirror(self, children: ["count": count]) }
}
