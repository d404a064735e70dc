import EssentialsHTTP
import Synchronization

/// The resources of a service by address.
///
/// A hash table with linear probing over slots. A look-up by plain path hashes and compares the bytes of the path in
/// place, behind the kept hash of the base, so it builds no URL and allocates nothing.
///
/// The table's reference to a core is the only one if nobody uses the resource. New references are created only here,
/// under the table's lock, so a core that is found unused under the lock can be dropped.
final class ResourceTable: Sendable {
    /// A resource in the table. `isKnownUniquelyReferenced` needs a reference that is stored in place.
    fileprivate struct Slot: Sendable {
        var core: ResourceCore
        var address: ResourceURL
        let variant: ResourceVariant
        var hash: Int
    }

    fileprivate struct Contents: Sendable {
        var base: ResourceBase
        var slots: [Slot?] = []
        var free: [Int32] = []
        /// The index of a slot, or -1. The number of buckets is a power of two, at least twice that of the slots.
        var buckets: [Int32] = Array(repeating: -1, count: 64)
        var count = 0
    }

    private let contents: Mutex<Contents>

    init(base: ResourceBase) { contents = Mutex(Contents(base: base)) }

    /// The number of resources.
    var count: Int { contents.withLock { $0.count } }
    /// The base below which paths are joined.
    var base: ResourceBase { contents.withLock { $0.base } }

    /// The resource at an address, which is created if there is none.
    func core(at address: ResourceAddress, variant: ResourceVariant) -> ResourceCore {
        contents.withLock { contents in
            if case .path(let path) = address {
                if let found = contents.find(plain: path, variant) { return found }
            }
            let url = contents.base.url(of: address)
            return contents.core(at: url, variant)
        }
    }

    /// The resource at an address that was derived from another one.
    func core(variant: ResourceVariant, _ derive: (ResourceBase) -> ResourceURL) -> ResourceCore {
        contents.withLock { contents in contents.core(at: derive(contents.base), variant) }
    }

    /// All resources.
    var cores: [ResourceCore] { contents.withLock { $0.slots.compactMap { $0?.core } } }

    /// Uses another base. Resources below the old one get the URL below the new one.
    ///
    /// - Returns: The resources whose URL has changed, or whose place relative to the base has.
    func move(to base: ResourceBase) -> [ResourceCore] {
        contents.withLock { $0.move(to: base) }
    }
}

extension ResourceBase {
    /// The URL of an address.
    func url(of address: ResourceAddress) -> ResourceURL {
        switch address {
        case .path(let path): url(path: path)
        case .segments(let segments): url(segments: segments)
        case .url(let text): url(whole: text)
        }
    }
}

extension ResourceTable.Contents {
    /// The resource at a plain path; `nil` if there is none, or if the path needs escaping.
    fileprivate func find(plain path: String, _ variant: ResourceVariant) -> ResourceCore? {
        PathText.withPlain(path) { bytes in
            find(base.hash(ofPlain: bytes), variant) { base.matches(plain: bytes, $0) }
        } ?? nil
    }

    fileprivate mutating func core(at url: ResourceURL, _ variant: ResourceVariant) -> ResourceCore {
        let hash = base.hash(of: url)
        if let found = find(hash, variant, { $0.text == url.text }) { return found }
        let core = ResourceCore(url, variant)
        insert(core, hash)
        return core
    }

    private func find(
        _ hash: Int, _ variant: ResourceVariant, _ matches: (ResourceURL) -> Bool
    ) -> ResourceCore? {
        let mask = buckets.count - 1
        var bucket = Self.mixed(hash, variant) & mask
        while case let index = buckets[bucket], index >= 0 {
            if let slot = slots[Int(index)], slot.hash == hash, matches(slot.address), slot.variant == variant {
                return slot.core
            }
            bucket = (bucket + 1) & mask
        }
        return nil
    }

    /// Variants of one URL have the same hash, so they begin at different buckets.
    private static func mixed(_ hash: Int, _ variant: ResourceVariant) -> Int {
        variant.isStandard ? hash : hash ^ variant.hashValue
    }

    private mutating func insert(_ core: ResourceCore, _ hash: Int) {
        let slot = ResourceTable.Slot(core: core, address: core.address, variant: core.variant, hash: hash)
        let index: Int32
        if let free = free.popLast() {
            index = free
            slots[Int(free)] = slot
        } else {
            index = Int32(slots.count)
            slots.append(slot)
        }
        count += 1
        if count * 2 > buckets.count { grow() } else { place(index) }
    }

    private mutating func place(_ index: Int32) {
        guard let slot = slots[Int(index)] else { return }
        let mask = buckets.count - 1
        var bucket = Self.mixed(slot.hash, slot.variant) & mask
        while buckets[bucket] >= 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = index
    }

    private mutating func grow() { rebuild(buckets: buckets.count * 2) }

    private mutating func rebuild(buckets number: Int) {
        buckets = Array(repeating: -1, count: number)
        for index in slots.indices where slots[index] != nil { place(Int32(index)) }
    }

    fileprivate mutating func move(to new: ResourceBase) -> [ResourceCore] {
        let old = base
        base = new
        var moved: [ResourceCore] = []
        for index in slots.indices {
            guard var slot = slots[index] else { continue }
            let url = new.url(moving: slot.address, from: old)
            if url != slot.address || url.isBelowBase { moved.append(slot.core) }
            slot.address = url
            slot.hash = new.hash(of: url)
            slot.core.move(to: url)
            slots[index] = slot
        }
        rebuild(buckets: buckets.count)
        return moved
    }
}
