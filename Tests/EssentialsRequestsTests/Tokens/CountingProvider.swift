import EssentialsRequests
import EssentialsTools

/// A provider that returns the tokens `t1`, `t2` and so on, or what a closure returns, and counts its calls.
final class CountingProvider: AccessTokenProvider {
    typealias Call = @Sendable (_ number: Int, _ old: AccessToken?) async throws -> AccessToken

    private struct State {
        var calls = 0
        var running = 0
        var mostRunning = 0
        var old: [AccessToken?] = []
    }

    private let call: Call
    private let state = Mutex(State())

    init(_ call: @escaping Call = { number, _ in try AccessToken("t\(number)") }) { self.call = call }

    /// The number of calls.
    var calls: Int { state.withLock { $0.calls } }
    /// The largest number of calls at the same time.
    var mostRunning: Int { state.withLock { $0.mostRunning } }
    /// The values of the tokens that were to be replaced.
    var replaced: [String?] { state.withLock { $0.old.map { $0?.value } } }

    func token(replacing old: AccessToken?) async throws -> AccessToken {
        let number = state.withLock { state in
            state.calls += 1
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
            state.old.append(old)
            return state.calls
        }
        defer { state.withLock { $0.running -= 1 } }
        return try await call(number, old)
    }
}

/// The error of a provider.
struct ProviderFault: Error, Equatable {}
