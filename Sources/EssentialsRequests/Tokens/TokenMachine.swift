import EssentialsHTTP

/// Decides which token a request carries, who waits for a refresh, and when a refresh starts.
///
/// ```swift
/// var machine = TokenMachine()
/// machine.attach(1)
/// machine.request(from: 1, waiter: 7, at: .zero)        // .wait, [.start(refresh: 1, replacing: nil)]
/// machine.finished(1, .token(token), at: .zero)         // [.resume([7], lease)]
/// ```
///
/// A session is one use of the token by a service for one origin. All sessions share the token and its refresh. No
/// refresh starts before the previous one has returned, because a provider may spend a refresh token that can be used
/// once. All times are on one monotonic clock.
struct TokenMachine: Sendable, Hashable {
    typealias Session = Int
    typealias Waiter = Int

    /// The permission to send attempts with a token. All requests with the token share the object.
    final class Lease: Sendable {
        let token: AccessToken
        /// Which of the source's tokens this is, in the order of their arrival.
        let generation: Int
        /// Whether a server has accepted this token before.
        let isProven: Bool
        /// The field `Authorization`.
        let field: HTTPField

        init(token: AccessToken, generation: Int, isProven: Bool) {
            self.token = token
            self.generation = generation
            self.isProven = isProven
            field = HTTPField(name: .authorization, value: token.fieldValue)
        }
    }

    /// Why there is no token.
    enum Failure: Sendable, Hashable {
        /// The provider threw an error.
        case provider
        /// The provider needs a new login.
        case rejected
        /// The provider did not return in time.
        case overdue
        /// The last new tokens were all refused, or too many tokens within a short time.
        case refusedTooOften
        /// The session has ended.
        case ended
        /// Too many requests wait.
        case full
    }

    enum Decision: Sendable, Hashable {
        case use(Lease)
        case wait
        case fail(Failure)
    }

    /// What happens after a 401.
    enum Verdict: Sendable, Hashable {
        /// The request asks for a token again and is sent once more.
        case again
        /// The 401 is the result of the request.
        case handBack(Failure?)
        case fail(Failure)
    }

    /// Whether a request that was refused can be sent again.
    enum Attempt: Sendable, Hashable {
        case repeatable
        /// The body cannot be read again.
        case unrepeatable
        /// It was sent again already.
        case last
    }

    enum Action: Sendable, Hashable {
        case start(refresh: Int, replacing: AccessToken?)
        case cancel(refresh: Int)
        case resume([Waiter], Lease)
        case fail([Waiter], Failure)
    }

    /// How a refresh ended.
    enum Outcome: Sendable, Hashable {
        case token(AccessToken)
        case failed
        case rejected
    }

    /// A request after a failed refresh fails at once until this time has passed.
    static let pause = Duration.seconds(1)
    /// How many new tokens in a row may be refused before refreshes stop for a while.
    static let refusalLimit = 3
    /// How many tokens may be refused within the time of ``hold``, also if each was accepted before.
    static let refusalLimitOfWindow = 5
    /// How long refreshes stop after too many refusals in a row, and the window in which all refusals are counted.
    static let hold = Duration.seconds(30)
    /// A token is refreshed in advance when less than a tenth of its time is left, and at most this time.
    static let longestWindow = Duration.seconds(60)
    /// The maximum number of requests that wait for a token.
    static let maximumWaiters = 100_000

    private struct Held: Hashable {
        var lease: Lease
        var expiresAt: Duration?
        /// When to refresh in the background.
        var refreshAt: Duration?
        /// Whether a 401 has asked for a replacement.
        var isRefused = false
        /// Whether a 401 to this token was counted.
        var isCounted = false

        func isUsable(at now: Duration) -> Bool { !isRefused && expiresAt.map { now < $0 } ?? true }
    }

    private struct Refresh: Hashable {
        let number: Int
        /// Nobody may use its result: the credentials were cleared.
        var isDropped = false
        var isOverdue = false
    }

    private struct Block: Hashable {
        let failure: Failure
        /// `nil` means until credentials are set.
        let end: Duration?
    }

    private var sessions: Set<Session> = []
    private var held: Held?
    private var refresh: Refresh?
    private var waiters: [Waiter: Session] = [:]
    /// The last refresh failed.
    private var block: Block?
    /// Until when no refresh starts, because too many new tokens were refused.
    private var holdEnd: Duration?
    private var refusals = 0
    /// When the last tokens were refused, at most as many as the limit. An acceptance does not change them: a server that
    /// accepts each token once would cause a refresh for each request.
    private var lastRefusals: [Duration] = []
    private var lastGeneration = 0
    private var lastRefresh = 0

    /// The time before its expiry in which a token with this lifetime is refreshed in the background.
    static func window(of lifetime: Duration) -> Duration { max(.zero, min(lifetime / 10, longestWindow)) }

    /// The number of waiting requests.
    var waiterCount: Int { waiters.count }
    /// Whether the provider is running.
    var isRefreshing: Bool { refresh != nil }
    /// Whether a service uses the token.
    var isUsed: Bool { !sessions.isEmpty }

    // MARK: Sessions

    /// Adds a session. Credentials were set, so refreshes that had stopped are allowed again.
    mutating func attach(_ session: Session) {
        sessions.insert(session)
        block = nil
        holdEnd = nil
        refusals = 0
        lastRefusals = []
    }

    /// Ends a session. Its waiters fail as `ended`. The last one drops the token and cancels the refresh.
    mutating func end(_ session: Session) -> [Action] {
        guard sessions.remove(session) != nil else { return [] }
        var actions: [Action] = []
        let ended = waiters.filter { $0.value == session }.keys.sorted()
        for waiter in ended { waiters[waiter] = nil }
        if !ended.isEmpty { actions.append(.fail(ended, .ended)) }
        guard sessions.isEmpty else { return actions }
        held = nil
        block = nil
        holdEnd = nil
        refusals = 0
        lastRefusals = []
        if let running = refresh, !running.isDropped {
            refresh?.isDropped = true
            actions.append(.cancel(refresh: running.number))
        }
        return actions
    }

    // MARK: Requests

    /// Decides on the token of a request.
    ///
    /// - Parameters:
    ///   - session: The session of the request.
    ///   - waiter: The waiter to register if the request has to wait; a refresh then starts if none is running. With
    ///     `nil`, the decision `wait` changes nothing.
    ///   - clock: The time, which is not read for a token that does not expire.
    mutating func request(
        from session: Session, waiter: Waiter?, at clock: @autoclosure () -> Duration
    ) -> (Decision, [Action]) {
        guard sessions.contains(session) else { return (.fail(.ended), []) }
        if let held, !held.isRefused, held.expiresAt == nil { return (.use(held.lease), []) }
        let now = clock()
        if let held, held.isUsable(at: now) {
            guard let refreshAt = held.refreshAt, now >= refreshAt, refresh == nil, blocked(at: now) == nil else {
                return (.use(held.lease), [])
            }
            return (.use(held.lease), [start()])
        }
        if let refresh {
            if refresh.isOverdue { return (.fail(.overdue), []) }
        } else if let failure = blocked(at: now) {
            return (.fail(failure), [])
        }
        guard let waiter else { return (.wait, []) }
        guard waiters.count < Self.maximumWaiters else { return (.fail(.full), []) }
        waiters[waiter] = session
        return (.wait, refresh == nil ? [start()] : [])
    }

    /// Removes a waiter, and returns whether it was still waiting. The refresh goes on.
    mutating func left(_ waiter: Waiter) -> Bool { waiters.removeValue(forKey: waiter) != nil }

    /// Decides on a 401 to a token.
    mutating func refused(
        _ generation: Int, in session: Session, _ attempt: Attempt, at now: Duration
    ) -> (Verdict, [Action]) {
        guard sessions.contains(session) else { return (.fail(.ended), []) }
        let isPresent = held?.lease.generation == generation
        if isPresent { count(at: now) }
        guard attempt != .last else { return (.handBack(nil), []) }
        let goesOn: Verdict = attempt == .repeatable ? .again : .handBack(nil)
        if !isPresent, let held, held.isUsable(at: now) { return (goesOn, []) }
        let failure = refresh.map { $0.isOverdue ? .overdue : nil } ?? blocked(at: now)
        // The token stays in use while no other one can be requested.
        if failure == .refusedTooOften { return (.handBack(failure), []) }
        if isPresent { held?.isRefused = true }
        if let failure { return (attempt == .repeatable ? .fail(failure) : .handBack(failure), []) }
        return (goesOn, refresh == nil ? [start()] : [])
    }

    /// Records that a server accepted a token.
    mutating func accepted(_ generation: Int) {
        guard let lease = held?.lease, lease.generation == generation else { return }
        if !lease.isProven { held?.lease = Lease(token: lease.token, generation: generation, isProven: true) }
        refusals = 0
        holdEnd = nil
    }

    // MARK: Refreshes

    /// Records the end of a refresh.
    ///
    /// - Parameter early: How long before its expiry the new token is refreshed in the background.
    mutating func finished(
        _ number: Int, _ outcome: Outcome, early: Duration = .zero, at now: Duration
    ) -> [Action] {
        guard let ended = refresh, ended.number == number else { return [] }
        refresh = nil
        // The credentials were cleared. Requests with later credentials wait for a token of their own.
        guard !ended.isDropped else { return waiters.isEmpty ? [] : [start()] }
        switch outcome {
        case .token(let token):
            lastGeneration += 1
            let expiresAt = token.expiresIn.map { now + max(.zero, min($0, .seconds(1 << 40))) }
            let lease = Lease(token: token, generation: lastGeneration, isProven: false)
            held = Held(lease: lease, expiresAt: expiresAt, refreshAt: expiresAt.map { $0 - early })
            block = nil
            return takeWaiters().map { [.resume($0, lease)] } ?? []
        case .failed:
            block = Block(failure: ended.isOverdue ? .overdue : .provider, end: now + Self.pause)
            return failAll(ended.isOverdue ? .overdue : .provider)
        case .rejected:
            held = nil
            block = Block(failure: .rejected, end: nil)
            return failAll(.rejected)
        }
    }

    /// Ends the wait for a refresh that takes too long. It counts as running until it has returned.
    mutating func overdue(_ number: Int, at now: Duration) -> [Action] {
        guard let running = refresh, running.number == number, !running.isOverdue else { return [] }
        refresh?.isOverdue = true
        return (running.isDropped ? [] : [.cancel(refresh: number)]) + failAll(.overdue)
    }

    private mutating func start() -> Action {
        lastRefresh += 1
        refresh = Refresh(number: lastRefresh)
        return .start(refresh: lastRefresh, replacing: held?.lease.token)
    }

    private mutating func count(at now: Duration) {
        guard let present = held, !present.isCounted else { return }
        held?.isCounted = true
        lastRefusals = lastRefusals.suffix(Self.refusalLimitOfWindow - 1) + [now]
        guard !present.lease.isProven else { return }
        refusals += 1
        if refusals >= Self.refusalLimit { holdEnd = now + Self.hold }
    }

    private func blocked(at now: Duration) -> Failure? {
        if let holdEnd, now < holdEnd { return .refusedTooOften }
        if lastRefusals.count == Self.refusalLimitOfWindow, let first = lastRefusals.first, now < first + Self.hold {
            return .refusedTooOften
        }
        guard let block, block.end.map({ now < $0 }) ?? true else { return nil }
        return block.failure
    }

    private mutating func failAll(_ failure: Failure) -> [Action] {
        takeWaiters().map { [.fail($0, failure)] } ?? []
    }

    private mutating func takeWaiters() -> [Waiter]? {
        guard !waiters.isEmpty else { return nil }
        defer { waiters = [:] }
        return waiters.keys.sorted()
    }
}

/// Leases are compared by what they contain.
extension TokenMachine.Lease: Hashable {
    static func == (one: TokenMachine.Lease, other: TokenMachine.Lease) -> Bool {
        one.token == other.token && one.generation == other.generation && one.isProven == other.isProven
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(token)
        hasher.combine(generation)
        hasher.combine(isProven)
    }
}
