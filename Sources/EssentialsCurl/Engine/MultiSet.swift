import CEssentials
import EssentialsTransport

/// The multi handles of one engine thread.
///
/// One handle is enough for most. An origin with very many connections has more, because libcurl walks through all
/// connections to a host to find a free one. After its creation, only the engine's thread uses the set.
struct MultiSet {
    /// The maximum number of requests to one origin on one handle.
    static let crowd = 1_000
    /// The maximum number of handles. The last one takes all further requests.
    static let maximum = 64

    private let loop: OpaquePointer
    private let trust: CompiledTrust
    let proxyTrust: CompiledTrust?
    private(set) var all: [OpaquePointer] = []
    /// The number of requests on each handle, for lanes that need more than one.
    private var crowds: [Int: [Int]] = [:]

    /// - Throws: `resources` if libcurl returns no handle.
    init(loop: OpaquePointer, trust: CompiledTrust, proxyTrust: CompiledTrust?) throws(RequestFailure) {
        self.loop = loop
        self.trust = trust
        self.proxyTrust = proxyTrust
        guard let first = ce_multi_create(loop, trust.pointer, proxyTrust?.pointer, nil) else {
            throw Failures.noMemory(for: "libcurl's multi handle")
        }
        all = [first]
    }

    /// Returns the handle for one more request of a lane, which has `active` requests including this one.
    ///
    /// It is the first handle with room, so that connections are reused.
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

    /// Notes that a placed request has ended.
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
