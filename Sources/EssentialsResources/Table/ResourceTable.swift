import EssentialsHTTP
import EssentialsRequests
import EssentialsTools

/// The resources of a service by address.
///
/// It is a hash table with linear probing over slots. A look-up by plain path continues the stored hash of the base
/// with the bytes of the path, and compares them in place, so it builds no URL and allocates nothing.
///
/// The table's reference to a core is the only one if the resource is unused. New references are created only here,
/// under the table's lock, so a core that is found unused under the lock can be dropped.
final class ResourceTable: Sendable {
    /// A resource in the table. `isKnownUniquelyReferenced` needs a reference that is stored in place.
    fileprivate struct Slot: Sendable {
        var core: ResourceCore
        var address: ResourceURL
        /// The place in the order of use.
        var order: UnusedOrder<Int32>.Slot

        var variant: ResourceVariant { core.variant }
    }

    fileprivate struct Contents: Sendable {
        var base: ResourceBase
        var slots: [Slot?] = []
        /// The hashes of the slots. They are stored separately, so that a look-up touches only the slot that it finds.
        var hashes: [Int] = []
        var free: [Int32] = []
        /// The index of a slot, or -1. The number of buckets is a power of two, and at least twice the number of slots.
        var buckets: [Int32] = Array(repeating: -1, count: 64)
        var count = 0
        var order: UnusedOrder<Int32>
        /// The resources whose size is not known.
        var unmeasured = UnmeasuredOrder()
        /// The resources that are being measured outside the lock, with the numbers of the measurements.
        var measured: [Int32: UInt64] = [:]
        var lastMeasurement: UInt64 = 0
        /// Tells the load observers; `nil` if there are none.
        let reporter: LoadReporter?

        init(base: ResourceBase, order: UnusedOrder<Int32>, reporter: LoadReporter?) {
            (self.base, self.order, self.reporter) = (base, order, reporter)
        }
    }

    private let contents: Mutex<Contents>
    /// Whether the size of a resource is not known, so that there is something to measure.
    private let hasUnmeasured = Atomic(false)
    /// It is called for each new resource, without the lock.
    private let whenNew: @Sendable () -> Void

    init(
        base: ResourceBase, limits: UnusedOrder<Int32>.Limits, _ reporter: LoadReporter? = nil,
        whenNew: @escaping @Sendable () -> Void
    ) {
        self.whenNew = whenNew
        contents = Mutex(Contents(base: base, order: UnusedOrder(limits: limits), reporter: reporter))
    }

    /// Counts the size of a resource's current content against the limit. Unused resources may then be dropped.
    ///
    /// Call it after every change of the content, without the resource's lock, and before the end of a load or a write
    /// is reported. The size is read here, so the later one of two simultaneous changes counts, regardless of the order
    /// of the calls. Content without a known size is encoded to measure it when the resource is no longer used.
    func recount(_ core: ResourceCore) {
        let (isKnown, dropped) = contents.withLock { contents in
            // Locks are taken in the same order as in a move: first the table's, then the resource's.
            let bytes = core.knownBytes
            contents.resize(core, bytes: bytes)
            return (bytes != nil, contents.evict(sparing: core))
        }
        // The last references are released here, outside the lock.
        _ = dropped
        guard !isKnown else { return }
        hasUnmeasured.store(true, ordering: .relaxed)
        measureSome()
    }

    /// Examines some resources of unknown size, measures the unused ones, and drops resources beyond the limits.
    private func measureSome(looks: Int = 2) {
        guard hasUnmeasured.load(ordering: .relaxed), measure(looks: looks) else { return }
        let dropped = contents.withLock { contents in
            contents.dropping { order, isUsed in order.evict(isUsed: isUsed) }
        }
        // The last references are released here, outside the lock.
        _ = dropped
    }

    /// Measures some unused resources. They count as used until this has returned.
    ///
    /// - Returns: Whether there was such a resource.
    private func measure(looks: Int) -> Bool {
        let unused = contents.withLock { contents in
            let unused = contents.takeUnmeasured(looks: looks)
            if contents.unmeasured.count == 0 { hasUnmeasured.store(false, ordering: .relaxed) }
            return unused
        }
        // This runs foreign code: the encoding of the contents.
        let sizes = unused.map(\.core.measuredBytes)
        contents.withLock { contents in
            for (member, bytes) in zip(unused, sizes) {
                contents.endMeasurement(member.number, of: member.core, bytes: bytes)
            }
        }
        return !unused.isEmpty
    }

    /// Changes the limits for unused resources, and drops resources beyond them.
    func setLimits(_ limits: UnusedOrder<Int32>.Limits) {
        measureSome(looks: .max)
        let dropped = contents.withLock { contents in
            contents.dropping { order, isUsed in order.setLimits(limits, isUsed: isUsed) }
        }
        _ = dropped
    }

    /// Drops unused resources.
    func dropUnused(onlyHalf: Bool = false) {
        let dropped = contents.withLock { contents in
            contents.dropping { order, isUsed in order.dropUnused(onlyHalf: onlyHalf, isUsed: isUsed) }
        }
        _ = dropped
    }

    /// Drops values that can be loaded again, because memory is short.
    func relieve(_ pressure: MemoryPressure) {
        dropUnused(onlyHalf: pressure == .low)
        guard pressure == .critical else { return }
        for core in cores { core.dropKeptBody() }
    }

    /// The number of resources.
    var count: Int { contents.withLock { $0.count } }
    /// The bytes of content that count against the limit.
    var countedBytes: Int { contents.withLock { $0.order.countedBytes } }
    /// The base below which paths are joined.
    var base: ResourceBase { contents.withLock { $0.base } }

    /// Returns the resource at an address, and creates it if there is none.
    func core(at address: ResourceAddress, variant: ResourceVariant) -> ResourceCore {
        if case .path(let path) = address, let found = core(atPlain: path, variant) { return found }
        return core(variant: variant) { base in base.url(of: address) }
    }

    /// The resource at a plain path; `nil` if there is none, or if the path needs escaping.
    private func core(atPlain path: String, _ variant: ResourceVariant) -> ResourceCore? {
        let found = PathText.withPlain(path) { bytes in contents.withLock { $0.find(plain: bytes, variant) } }
        return found ?? nil
    }

    /// Returns the resource at an address that was derived from another one.
    func core(variant: ResourceVariant, _ derive: (ResourceBase) -> ResourceURL) -> ResourceCore {
        let (core, isNew, dropped) = contents.withLock { contents in contents.core(at: derive(contents.base), variant) }
        // The last references are released here, outside the lock.
        _ = dropped
        // Without this, resources with observers of released owners would not be dropped.
        if isNew {
            whenNew()
            measureSome()
        }
        return core
    }

    /// All resources.
    var cores: [ResourceCore] { contents.withLock { $0.slots.compactMap { $0?.core } } }

    /// Uses another base. Resources below the old base get the URL below the new one. Resources that then have the same
    /// URL and variant are merged.
    ///
    /// - Returns: The resources whose URL has changed, that lie below the new base, or that were merged into another
    ///   one.
    func move(to base: ResourceBase) -> [MovedResource] {
        contents.withLock { $0.move(to: base) }
    }
}

extension Optional<ResourceTable.Slot> {
    /// Whether there is a reference to the resource outside the table.
    fileprivate var isInUse: Bool {
        mutating get {
            guard self != nil else { return false }
            return !isKnownUniquelyReferenced(&self!.core)
        }
    }
}

extension ResourceBase {
    /// The URL of an address.
    func url(of address: ResourceAddress) -> ResourceURL {
        switch address {
        case .path(let path): url(path: path)
        case .segments(let segments): url(segments: segments)
        case .url(let text): url(whole: text)
        case .below(let text, let path): child(of: url(whole: text), path)
        }
    }
}

extension ResourceTable.Contents {
    /// The resource at a plain path; `nil` if there is none.
    fileprivate mutating func find(
        plain path: UnsafeBufferPointer<UInt8>, _ variant: ResourceVariant
    ) -> ResourceCore? {
        let base = base
        let hash = base.hash(ofPlain: path)
        var bucket = bucket(of: hash, variant)
        while let index = index(at: bucket) {
            if hashes[index] == hash, isSlot(index, of: path, base, variant) { return use(index) }
            bucket = self.bucket(after: bucket)
        }
        return nil
    }

    private func isSlot(
        _ index: Int, of path: UnsafeBufferPointer<UInt8>, _ base: ResourceBase, _ variant: ResourceVariant
    ) -> Bool {
        guard let slot = slots[index] else { return false }
        return base.matches(plain: path, slot.address) && slot.variant == variant
    }

    /// Returns the resource with a URL, and creates it if there is none.
    ///
    /// - Returns: The resource, whether it is new, and the resources that were dropped for it. They must be released
    ///   outside the lock, because releasing their contents can use the service.
    fileprivate mutating func core(
        at url: ResourceURL, _ variant: ResourceVariant
    ) -> (core: ResourceCore, isNew: Bool, dropped: [ResourceCore]) {
        let hash = base.hash(of: url)
        if let index = find(hash, url, variant), let found = use(index) { return (found, false, []) }
        let core = ResourceCore(url, variant, reporter)
        return (core, true, insert(core, hash))
    }

    private mutating func use(_ index: Int) -> ResourceCore? {
        guard let slot = slots[index] else { return nil }
        order.touch(slot.order)
        return slot.core
    }

    private func find(_ hash: Int, _ url: ResourceURL, _ variant: ResourceVariant) -> Int? {
        var bucket = bucket(of: hash, variant)
        while let index = index(at: bucket) {
            if hashes[index] == hash, let slot = slots[index], slot.address.text == url.text, slot.variant == variant {
                return index
            }
            bucket = self.bucket(after: bucket)
        }
        return nil
    }

    /// The bucket at which the search for a resource begins.
    private func bucket(of hash: Int, _ variant: ResourceVariant) -> Int {
        Self.mixed(hash, variant) & (buckets.count - 1)
    }

    private func bucket(after bucket: Int) -> Int { (bucket + 1) & (buckets.count - 1) }

    /// The index of the slot in a bucket; `nil` if it is empty.
    private func index(at bucket: Int) -> Int? {
        let index = buckets[bucket]
        return index < 0 ? nil : Int(index)
    }

    /// All variants of one URL have the same hash, so the variant is mixed in to begin at different buckets.
    private static func mixed(_ hash: Int, _ variant: ResourceVariant) -> Int {
        variant.isStandard ? hash : hash ^ variant.hashValue
    }

    /// - Returns: The resources that were dropped for the new one.
    private mutating func insert(_ core: ResourceCore, _ hash: Int) -> [ResourceCore] {
        let index = free.popLast() ?? Int32(truncatingIfNeeded: slots.count)
        // Memory runs out long before the places of the order.
        guard let order = order.insert(index, bytes: 0) else { return [] }
        let slot = ResourceTable.Slot(core: core, address: core.address, order: order)
        if Int(index) < slots.count {
            slots[Int(index)] = slot
            hashes[Int(index)] = hash
        } else {
            slots.append(slot)
            hashes.append(hash)
        }
        core.tableIndex.store(index, ordering: .relaxed)
        count += 1
        if count * 2 > buckets.count { grow() } else { place(index) }
        return evict(sparing: core)
    }

    /// - Parameter bytes: The size of the content; `nil` if it is not known yet.
    fileprivate mutating func resize(_ core: ResourceCore, bytes: Int?) {
        guard let index = index(of: core), let slot = slots[index] else { return }
        forgetMeasurements(of: Int32(index))
        if bytes == nil { unmeasured.add(Int32(index)) }
        order.resize(slot.order, bytes: bytes ?? 0)
    }

    /// Forgets the measurements of a resource whose size is known, or which is gone.
    private mutating func forgetMeasurements(of index: Int32) {
        unmeasured.remove(index)
        measured[index] = nil
    }

    /// Records a measured size, unless the content was set since the measurement began.
    fileprivate mutating func endMeasurement(_ number: UInt64, of core: ResourceCore, bytes: Int) {
        guard let index = index(of: core), measured[Int32(index)] == number else { return }
        resize(core, bytes: bytes)
    }

    /// Takes out unused resources of unknown size, with the numbers of their measurements.
    fileprivate mutating func takeUnmeasured(looks: Int) -> [(core: ResourceCore, number: UInt64)] {
        var examined: [ResourceTable.Slot?] = []
        swap(&examined, &slots)
        let unused = unmeasured.takeUnused(looks: looks) { index in examined[Int(index)].isInUse }
        swap(&examined, &slots)
        return unused.compactMap { index in
            guard let core = slots[Int(index)]?.core else { return nil }
            lastMeasurement += 1
            measured[index] = lastMeasurement
            return (core, lastMeasurement)
        }
    }

    /// The index of a resource's slot.
    private func index(of core: ResourceCore) -> Int? {
        let index = Int(core.tableIndex.load(ordering: .relaxed))
        guard slots.indices.contains(index), let slot = slots[index], slot.core === core else { return nil }
        return index
    }

    /// Drops unused resources beyond the limits.
    fileprivate mutating func evict(sparing core: ResourceCore) -> [ResourceCore] {
        let index = Int(core.tableIndex.load(ordering: .relaxed))
        let spared = slots.indices.contains(index) ? slots[index]?.order : nil
        return dropping { order, isUsed in order.evict(sparing: spared, isUsed: isUsed) }
    }

    /// Removes the resources that the order gives up. The closure receives the order, and a function that returns
    /// whether a resource is in use.
    fileprivate mutating func dropping(
        _ choose: (inout UnusedOrder<Int32>, (Int32) -> Bool) -> [Int32]
    ) -> [ResourceCore] {
        // The slots are moved out, so that their references can be examined in place while the order changes.
        var examined: [ResourceTable.Slot?] = []
        swap(&examined, &slots)
        let chosen = choose(&order) { index in
            examined[Int(index)].isInUse
        }
        swap(&examined, &slots)
        return chosen.compactMap { remove($0) }
    }

    private mutating func remove(_ index: Int32) -> ResourceCore? {
        guard let slot = slots[Int(index)] else { return nil }
        removeBucket(of: index, slot)
        slots[Int(index)] = nil
        forgetMeasurements(of: index)
        free.append(index)
        count -= 1
        return slot.core
    }

    /// Removes an entry from the buckets, and moves back the entries that it has displaced.
    private mutating func removeBucket(of index: Int32, _ slot: ResourceTable.Slot) {
        let mask = buckets.count - 1
        var hole = Self.mixed(hashes[Int(index)], slot.variant) & mask
        while buckets[hole] != index { hole = (hole + 1) & mask }
        buckets[hole] = -1
        var next = (hole + 1) & mask
        while case let other = buckets[next], other >= 0 {
            if let moved = slots[Int(other)] {
                let home = Self.mixed(hashes[Int(other)], moved.variant) & mask
                // The entry may move if the hole lies between its home and its place.
                if (next &- home) & mask >= (next &- hole) & mask {
                    buckets[hole] = other
                    buckets[next] = -1
                    hole = next
                }
            }
            next = (next + 1) & mask
        }
    }

    private mutating func place(_ index: Int32) {
        guard let slot = slots[Int(index)] else { return }
        let mask = buckets.count - 1
        var bucket = Self.mixed(hashes[Int(index)], slot.variant) & mask
        while buckets[bucket] >= 0 { bucket = (bucket + 1) & mask }
        buckets[bucket] = index
    }

    private mutating func grow() {
        buckets = Array(repeating: -1, count: buckets.count * 2)
        for index in slots.indices where slots[index] != nil { place(Int32(index)) }
    }

    fileprivate mutating func move(to new: ResourceBase) -> [MovedResource] {
        let old = base
        base = new
        var (below, others, changed): ([Int], [Int], Set<Int>) = ([], [], [])
        for index in slots.indices {
            guard var slot = slots[index] else { continue }
            if old.part(of: slot.address) == nil { others.append(index) } else { below.append(index) }
            let url = new.url(moving: slot.address, from: old)
            // The new environment may have other credentials, even for the same URL.
            if url != slot.address || url.isBelowBase { changed.insert(index) }
            slot.address = url
            hashes[index] = new.hash(of: url)
            slots[index] = slot
        }
        buckets = Array(repeating: -1, count: buckets.count)
        // Of several resources with the same URL, the first one stays. Those that lay below the base come first.
        var joining: [Int: [ResourceCore]] = [:]
        for index in below + others {
            guard let slot = slots[index] else { continue }
            if let first = find(hashes[index], slot.address, slot.variant) {
                joining[first, default: []].append(takeOut(index, slot))
            } else {
                place(Int32(index))
            }
        }
        return slots.indices.flatMap { index -> [MovedResource] in
            guard let slot = slots[index] else { return [] }
            if let others = joining[index] { return others.flatMap { slot.core.absorb($0, at: slot.address) } }
            return changed.contains(index) ? [slot.core.move(to: slot.address)] : []
        }
    }

    /// Removes a resource that has no bucket.
    private mutating func takeOut(_ index: Int, _ slot: ResourceTable.Slot) -> ResourceCore {
        order.remove(slot.order)
        slots[index] = nil
        forgetMeasurements(of: Int32(index))
        free.append(Int32(index))
        count -= 1
        slot.core.tableIndex.store(-1, ordering: .relaxed)
        return slot.core
    }
}
