import EssentialsHTTP
import EssentialsTools

/// The tokens of one ``Credentials`` value: it calls the provider as the machine decides, and lets requests wait.
///
/// All services and origins that have these credentials share the source, and so one token and one refresh.
final class TokenSource: Sendable {
    /// The longest time for one call of the provider.
    static let limit = Duration.seconds(30)

    /// The sources whose provider has started the current task.
    @TaskLocal private static var callers: [ObjectIdentifier] = []

    /// How a wait ended.
    enum Waited: Sendable {
        case lease(TokenMachine.Lease)
        /// There is no token, with the provider's last error.
        case failure(TokenMachine.Failure, (any Error)?)
        case cancelled
        /// The request's own time is over.
        case timedOut
    }

    private struct State {
        var machine = TokenMachine()
        var waiting: [Int: OneShot<Waited>] = [:]
        var lastNumber = 0
        /// The provider's last error.
        var error: (any Error)?
        /// The running call of the provider.
        var call: Task<Void, Never>?
        /// Ends the wait for the call.
        var timer: Task<Void, Never>?

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private struct Resumption {
        let promise: OneShot<Waited>
        let result: Waited
    }

    private let provider: any AccessTokenProvider
    private let clock: RequestClock
    private let state = Mutex(State())
    /// The exchanges that a cancelled call of the provider has left behind.
    private let exchanges = RunningExchanges()

    init(_ provider: any AccessTokenProvider, clock: RequestClock) {
        self.provider = provider
        self.clock = clock
    }

    /// Whether the current task runs for this source's provider, and must not wait for a token.
    var isCalledHere: Bool {
        let callers = Self.callers
        return !callers.isEmpty && callers.contains(ObjectIdentifier(self))
    }

    /// The number of waiting requests.
    var waiterCount: Int { state.withLock { $0.machine.waiterCount } }
    /// Whether the provider is running.
    var isRefreshing: Bool { state.withLock { $0.machine.isRefreshing } }

    // MARK: Sessions

    /// Adds a session and returns its number.
    func attach() -> Int {
        state.withLock { state in
            let session = state.nextNumber()
            state.machine.attach(session)
            return session
        }
    }

    /// Ends a session. With the last one, the token is dropped and the refresh is cancelled.
    func end(_ session: Int) { act { state in ((), state.machine.end(session)) } }

    /// Returns when the exchanges of a refresh that was cancelled have ended, at the latest after ``limit`` or when the
    /// calling task is cancelled. It does not wait while the source has sessions, because their refresh goes on.
    func waitForExchanges() async {
        guard !state.withLock({ $0.machine.isUsed }) else { return }
        await exchanges.waitUntilEmpty(within: Self.limit, clock)
    }

    // MARK: Requests

    /// Decides on the token of a request. If there is none, call ``wait(in:_:timeout:timer:)``.
    func request(from session: Int) -> (TokenMachine.Decision, (any Error)?) {
        act { state in
            let (decision, actions) = state.machine.request(from: session, waiter: nil, at: clock.now)
            return ((decision, state.error), actions)
        }
    }

    /// Decides on a 401 to a token.
    func refused(
        _ lease: TokenMachine.Lease, in session: Int, _ attempt: TokenMachine.Attempt
    ) -> (TokenMachine.Verdict, (any Error)?) {
        let now = clock.now
        return act { state in
            let (verdict, actions) = state.machine.refused(lease.generation, in: session, attempt, at: now)
            return ((verdict, state.error), actions)
        }
    }

    /// Records that a server accepted a token.
    func accepted(_ lease: TokenMachine.Lease) {
        guard !lease.isProven else { return }
        state.withLock { $0.machine.accepted(lease.generation) }
    }

    // MARK: Waiting

    /// Waits for a token. A cancellation or the timeout ends the wait, and the refresh goes on.
    ///
    /// - Parameters:
    ///   - session: The session of the request.
    ///   - cancellation: Ends the request from outside.
    ///   - timeout: The longest wait; `nil` means no limit of the request itself.
    ///   - timer: Measures the timeout.
    func wait(
        in session: Int, _ cancellation: Cancellation, timeout: Duration?, timer: any Clock<Duration>
    ) async -> Waited {
        let number = state.withLock { $0.nextNumber() }
        let promise = OneShot<Waited>()
        if let result = join(promise, number, session, cancellation) { return result }
        // The waiter is known by now. A timeout or a cancellation that came before it would be lost.
        let registration = cancellation.add { self.leave(number, .cancelled) }
        defer { cancellation.remove(registration) }
        let alarm = timeout.map { timeout in
            Task {
                guard (try? await timer.sleep(for: timeout.sleepable, tolerance: nil)) != nil else { return }
                self.leave(number, .timedOut)
            }
        }
        defer { alarm?.cancel() }
        return await withTaskCancellationHandler {
            await promise.value()
        } onCancel: {
            leave(number, .cancelled)
        }
    }

    /// Adds a waiter, or returns the result if it need not wait.
    private func join(
        _ promise: OneShot<Waited>, _ number: Int, _ session: Int, _ cancellation: Cancellation
    ) -> Waited? {
        // A request that was cancelled starts no refresh.
        if Task.isCancelled || cancellation.isCancelled { return .cancelled }
        return act { state in
            let (decision, actions) = state.machine.request(from: session, waiter: number, at: clock.now)
            switch decision {
            case .use(let lease): return (.lease(lease), actions)
            case .fail(let failure): return (.failure(failure, state.error), actions)
            case .wait:
                state.waiting[number] = promise
                return (nil, actions)
            }
        }
    }

    private func leave(_ number: Int, _ result: Waited) {
        let promise = state.withLock { state in
            _ = state.machine.left(number)
            return state.waiting.removeValue(forKey: number)
        }
        promise?.provide(result)
    }

    // MARK: Acting

    /// Gives the machine an input, carries out its actions, and then resumes waiters without the lock.
    private func act<Value: Sendable>(_ input: (inout State) -> (Value, [TokenMachine.Action])) -> Value {
        let (value, resumptions) = state.withLock { state in
            let (value, actions) = input(&state)
            return (value, actions.isEmpty ? [] : carryOut(actions, &state))
        }
        for resumption in resumptions { resumption.promise.provide(resumption.result) }
        return value
    }

    private func carryOut(_ actions: [TokenMachine.Action], _ state: inout State) -> [Resumption] {
        var resumptions: [Resumption] = []
        func resume(_ waiters: [Int], _ result: Waited) {
            for waiter in waiters {
                guard let promise = state.waiting.removeValue(forKey: waiter) else { continue }
                resumptions.append(Resumption(promise: promise, result: result))
            }
        }
        for action in actions {
            switch action {
            case .start(let number, let old): begin(number, replacing: old, &state)
            case .cancel: state.call?.cancel()
            case .resume(let waiters, let lease): resume(waiters, .lease(lease))
            case .fail(let waiters, let failure): resume(waiters, .failure(failure, state.error))
            }
        }
        return resumptions
    }

    /// Starts a call of the provider. It is not a child task, because the request that caused it may end earlier.
    private func begin(_ number: Int, replacing old: AccessToken?, _ state: inout State) {
        let callers = Self.callers + [ObjectIdentifier(self)]
        state.call = Task.detached { [self] in
            await Self.$callers.withValue(callers) {
                await RunningExchanges.$current.withValue(exchanges) { await call(number, replacing: old) }
            }
        }
        state.timer = Task.detached { [self] in
            guard (try? await clock.sleep(for: Self.limit)) != nil else { return }
            act { state in ((), state.machine.overdue(number, at: clock.now)) }
        }
    }

    private func call(_ number: Int, replacing old: AccessToken?) async {
        do {
            finished(number, .token(try await provider.token(replacing: old)), nil)
        } catch let rejection as AccessTokenRejection {
            finished(number, .rejected, rejection)
        } catch {
            finished(number, .failed, error)
        }
    }

    private func finished(_ number: Int, _ outcome: TokenMachine.Outcome, _ error: (any Error)?) {
        let now = clock.now
        var early = Duration.zero
        if case .token(let token) = outcome, let lifetime = token.expiresIn {
            let window = TokenMachine.window(of: lifetime)
            // Programs that received their tokens at the same time do not refresh them at the same time.
            early = clock.random(in: window / 2...window)
        }
        act { state in
            state.timer?.cancel()
            state.error = error
            return ((), state.machine.finished(number, outcome, early: early, at: now))
        }
    }
}

/// Sources are compared by identity, because providers cannot be compared.
extension TokenSource: Hashable {
    static func == (one: TokenSource, other: TokenSource) -> Bool { one === other }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
