import Dispatch
import EssentialsTools
import Glibc
import Testing

@testable import EssentialsReachability

/// A network namespace: a thread that has left the process's namespace and runs a test's work.
///
/// `ip` and trackers that run on this thread see the new namespace, and the rest of the process does not.
final class NetworkNamespace: Sendable {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isEnding = false
    }

    private let shared: Shared

    /// The state that the thread uses, so that it does not retain the namespace.
    private final class Shared: Sendable {
        let state = Mutex(State())
        let work = DispatchSemaphore(value: 0)

        func run() {
            while true {
                work.wait()
                let job = state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
                if let job { job() } else if state.withLock({ $0.isEnding }) { return }
            }
        }
    }

    /// Whether this machine allows creating network namespaces: as root, with iproute2 and veth.
    static let isAvailable: Bool = {
        guard geteuid() == 0 else { return false }
        let result = Mutex(false)
        let thread = try? SystemThread(named: "test-namespace") {
            let works = leaveNamespace() == 0 && shell("ip link add v0 type veth peer name v1")
            result.withLock { $0 = works }
        }
        thread?.join()
        return result.withLock { $0 }
    }()

    init() async throws {
        shared = Shared()
        try SystemThread(named: "test-namespace") { [shared] in shared.run() }.detach()
        guard await run({ Self.leaveNamespace() }) == 0 else { throw Failed(description: "no network namespace") }
    }

    deinit {
        shared.state.withLock { $0.isEnding = true }
        shared.work.signal()
    }

    /// Runs work on the namespace's thread.
    func run<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        // The thread sanitizer sees no order if a continuation is resumed before it is awaited.
        let order = Mutex(())
        let value = await withCheckedContinuation { continuation in
            shared.state.withLock { state in
                state.jobs.append {
                    let value = body()
                    order.withLock { _ in }
                    continuation.resume(returning: value)
                }
            }
            shared.work.signal()
        }
        order.withLock { _ in }
        return value
    }

    /// Runs commands of `ip`; each must succeed.
    func ip(_ commands: String...) async throws {
        for command in commands {
            guard await run({ Self.shell("ip " + command) }) else { throw Failed(description: "ip \(command)") }
        }
    }

    func tracker(_ host: String) async throws -> ReachabilityTracker {
        try await run { Result { try ReachabilityTracker(host: host) } }.get()
    }

    func interface(_ name: String, _ kind: NetworkInterface.Kind) async -> NetworkInterface {
        NetworkInterface(name: name, index: await run { if_nametoindex(name) }, kind: kind)
    }

    /// A veth pair: `v0` with the network 10.9.0.0/24, and `v1`. Both are up.
    func addCable() async throws -> NetworkInterface {
        try await ip(
            "link set lo up", "link add v0 type veth peer name v1", "addr add 10.9.0.1/24 dev v0", "link set v0 up",
            "link set v1 up")
        return await interface("v0", .virtual)
    }

    static func shell(_ command: String) -> Bool { system(command + " >/dev/null 2>&1") == 0 }

    private static func leaveNamespace() -> Int32 {
        // Swift imports neither the call nor its flag CLONE_NEWNET.
        typealias Unshare = @convention(c) (Int32) -> Int32
        guard let symbol = dlsym(nil, "unshare") else { return -1 }
        return unsafeBitCast(symbol, to: Unshare.self)(0x4000_0000)
    }
}

extension ReachabilityTracker {
    /// Waits for a status. The suite's time limit ends a test that waits in vain.
    func reaches(_ expected: ReachabilityStatus) async -> Bool {
        for await status in statuses where status == expected { return true }
        return false
    }
}
