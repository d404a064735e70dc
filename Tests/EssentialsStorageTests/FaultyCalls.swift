import EssentialsTools
import Glibc

@testable import EssentialsStorage

/// System calls that a test can make fail, one at a time.
final class FaultyCalls: Sendable {
    private let state = Mutex((count: 0, failing: -1, failed: nil as FileCalls.Kind?))
    private let code: Int32

    init(_ code: Int32 = EIO) { self.code = code }

    /// The number of calls so far.
    var count: Int { state.withLock { $0.count } }
    /// The kind of the call that has failed.
    var failed: FileCalls.Kind? { state.withLock { $0.failed } }

    /// Makes one call fail, after this many others.
    func fail(after count: Int) { state.withLock { $0 = (0, count, nil) } }

    /// Makes no further call fail.
    func heal() { state.withLock { $0.failing = -1 } }

    var calls: FileCalls {
        var calls = FileCalls.system
        calls.fault = { [self] kind, _ in
            state.withLock { state in
                defer { state.count += 1 }
                guard state.count == state.failing else { return nil }
                state.failed = kind
                return code
            }
        }
        return calls
    }
}
