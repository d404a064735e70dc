import CEssentials
import EssentialsTransport

/// The multi handles of one engine thread: one, and more for an origin with very many connections at once, because
/// libcurl walks through all connections to a host whenever it looks for a free one.
///
/// Engine thread, after its making.
struct MultiSet {
    /// Requests to one origin on one handle.
    static let crowd = 1_000
    /// More handles than this and the last one takes the rest.
    static let maximum = 64

    private let loop: OpaquePointer
    private let trust: CompiledTrust
    let proxyTrust: CompiledTrust?
    private(set) var all: [OpaquePointer] = []
    /// For lanes that have been crowded, how many requests are on each handle.
    private var crowds: [Int: [Int]] = [:]

    /// - Throws: `connection` when libcurl gives no handle.
    init(loop: OpaquePointer, trust: CompiledTrust, proxyTrust: CompiledTrust?) throws(RequestFailure) {
        self.loop = loop
        self.trust = trust
        self.proxyTrust = proxyTrust
        guard let first = ce_multi_create(loop, trust.pointer, proxyTrust?.pointer, nil) else {
            throw RequestFailure(.connection, "libcurl gave no multi handle.", remedy: "Free some memory.")
        }
        all = [first]
    }

    /// The handle for one more request of a lane, which has `active` requests, this one included.
    ///
    /// The first with room, so that connections are used again rather than spread.
    mutating func place(lane: Int, active: Int) -> Int {
        guard active > Self.crowd || crowds[lane] != nil else { return 0 }
        var counts = crowds[lane] ?? [active - 1]
        var index = counts.firstIndex { $0 < Self.crowd } ?? counts.count
        if index >= all.count, !grow() { index = all.count - 1 }
        if index == counts.count { counts.append(0) }
        counts[index] += 1
        crowds[lane] = counts
        return index
    }

    /// A request that was placed is over.
    mutating func leave(lane: Int, index: Int) {
        guard !crowds.isEmpty, var counts = crowds[lane] else { return }
        counts[index] -= 1
        crowds[lane] = counts.allSatisfy { $0 == 0 } ? nil : counts
    }

    private mutating func grow() -> Bool {
        guard all.count < Self.maximum, let first = all.first,
            let another = ce_multi_create(loop, trust.pointer, proxyTrust?.pointer, first)
        else { return false }
        all.append(another)
        return true
    }

    mutating func destroyAll() {
        for multi in all { ce_multi_destroy(multi) }
        all = []
    }
}
